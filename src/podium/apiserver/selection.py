"""Label and field selectors of query parameters, and which objects they select."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.api.requirements import DOES_NOT_EXIST, EXISTS, GT, IN, LT, NOT_IN, Requirement
from podium.api.requirements import requirement_problems as problems_of
from podium.api.selectors import EVERYTHING, Selector
from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Json
from podium.apiserver.watches import Item

_TOKEN = re.compile(r"\s*(==|!=|=|>|<|\(|\)|,|![^=]?|[^\s=!<>(),]+)")
_COMPARISONS = {"=": IN, "==": IN, "!=": NOT_IN, ">": GT, "<": LT}


def parse_labels(text: str) -> Selector:
    """Parse ``app=web,tier in (a, b),!old``; raise the server's 400."""
    try:
        return Selector(tuple(_Parser(text).requirements()))
    except ValueError as error:
        raise statuses.bad_request(str(error)) from None


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
        if problems := problems_of(requirement):
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


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One requirement on a field: it equals this text, or it does not."""

    path: str
    equals: bool
    value: str


_NOT_TEXT = {"spec.unschedulable": "false", "spec.hostNetwork": "false", "status.replicas": "0"}


def parse_fields(text: str, kind: ApiKind) -> tuple[FieldTerm, ...]:
    """Parse ``status.phase!=Running,spec.nodeName=``; raise the server's 400."""
    known = ("metadata.name", "metadata.namespace", *kind.selectable_fields)
    found = []
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"([^=!]*)(!=|==|=)(.*)", part, re.DOTALL)
        if match is None:
            raise statuses.bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        path, operator, value = match.groups()
        if path not in known:
            raise statuses.bad_request(kind.unknown_field.format(path=path))
        found.append(FieldTerm(path, operator != "!=", value))
    return tuple(found)


def field_text(obj: Json, path: str) -> str:
    """Return a field as text for comparison, with Go's zero value where it is missing."""
    value: Any = obj
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if path == "source":
        value = (obj.get("source") or {}).get("component") or obj.get("reportingComponent")
    if value is None:
        return _NOT_TEXT.get(path, "")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@dataclass(frozen=True, slots=True)
class Selection:
    """What a list or watch selects; ``matches`` decides about one object."""

    namespace: str | None = None
    labels: Selector = EVERYTHING
    fields: tuple[FieldTerm, ...] = ()
    convert: Callable[[Json], Json] | None = None

    def matches(self, item: Item) -> bool:
        if self.namespace is not None and item.key[0] != self.namespace:
            return False
        if not self.labels.is_empty and not self.labels.matches(item.labels):
            return False
        return not self.fields or self._fields_match(item)

    def _fields_match(self, item: Item) -> bool:
        by_key = {"metadata.name": item.key[1], "metadata.namespace": item.key[0]}
        if all(term.path in by_key for term in self.fields):  # the usual case, without decoding
            return all((by_key[t.path] == t.value) == t.equals for t in self.fields)
        obj = item.decode()
        obj = self.convert(obj) if self.convert else obj
        return all((field_text(obj, t.path) == t.value) == t.equals for t in self.fields)

    @property
    def is_everything(self) -> bool:
        return self.labels.is_empty and not self.fields
