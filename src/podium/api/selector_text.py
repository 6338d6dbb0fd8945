"""Label selectors as people write them: ``app=web,tier in (a, b),!old``."""

from __future__ import annotations

import re

from podium.api.requirements import (
    DOES_NOT_EXIST,
    EXISTS,
    GT,
    IN,
    LT,
    NOT_IN,
    Requirement,
    requirement_problems,
)
from podium.api.selectors import Selector

_TOKEN = re.compile(r"\s*(==|!=|=|>|<|\(|\)|,|![^=]?|[^\s=!<>(),]+)")
_COMPARISONS = {"=": IN, "==": IN, "!=": NOT_IN, ">": GT, "<": LT}


def parse_selector(text: str) -> Selector:
    """Parse a selector as ``kubectl get -l`` takes it; ``ValueError`` says what is wrong."""
    return Selector(tuple(_Parser(text).requirements()))


class _Parser:
    """Reads requirements from left to right; every mistake is a ValueError with the reason."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while token := self._peek():
            if _is_punctuation(token):
                wanted = "identifier after ','" if found else "!, identifier, or 'end of string'"
                raise ValueError(f"found '{token}', expected: {wanted}")
            found.append(self._described_requirement())
            if self._peek():
                self._expect(",", "',' or 'end of string'")
                if not self._peek():
                    raise ValueError("found '', expected: identifier after ','")
        return found

    def _described_requirement(self) -> Requirement:
        try:
            return self._requirement()
        except ValueError as error:
            raise ValueError(f"unable to parse requirement: {error}") from None

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return self._checked(Requirement(self._word(), DOES_NOT_EXIST, ()))
        key = self._word()
        operator = self._peek()
        if operator in ("", ","):
            return self._checked(Requirement(key, EXISTS, ()))
        self._next()
        if operator in _COMPARISONS:
            value = self._word() if self._peek() not in ("", ",") else ""
            return self._checked(Requirement(key, _COMPARISONS[operator], (value,)))
        if operator in ("in", "notin"):
            return self._checked(Requirement(key, IN if operator == "in" else NOT_IN, self._set()))
        raise ValueError(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")

    def _checked(self, requirement: Requirement) -> Requirement:
        if problems := requirement_problems(requirement):
            # kube-apiserver has no name for the path of the key here.
            messages = (f"<nil>{one[3:]}" if one.startswith("key:") else one for one in problems)
            raise ValueError("; ".join(messages))
        return requirement

    def _set(self) -> tuple[str, ...]:
        token = self._next()
        if token != "(":
            raise ValueError(f"found '{token}' expected: '('")
        values = []
        while self._peek() != ")":
            values.append("" if self._peek() == "," else self._word())
            if self._peek() != ")":
                self._expect(",", "',' or ')'")
        self._next()
        return tuple(sorted(values)) or ("",)

    def _word(self) -> str:
        token = self._next()
        if not token or _is_punctuation(token):
            raise ValueError(f"found '{token}', expected: identifier")
        return token

    def _expect(self, wanted: str, expected: str) -> None:
        token = self._next()
        if token != wanted:
            raise ValueError(f"found '{token}', expected: {expected}")

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _is_punctuation(token: str) -> bool:
    return token in ("(", ")", "=", "==", "!=", "<", ">", ",")


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read {text[at:]!r}")
        token, at = match[1], match.end()
        if token.startswith("!") and token not in ("!", "!="):
            token, at = "!", match.start(1) + 1
        found.append(token)
    return found
