"""Split a CEL expression into tokens, as cel-go's grammar does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_ESCAPE: Final = (
    r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
)
_STRING: Final = "|".join(
    (
        r'[rR]"""(?:[^"]|"(?!""))*"""',
        r"[rR]'''(?:[^']|'(?!''))*'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"""(?:{_ESCAPE}|[^\\"]|"(?!""))*"""',
        rf"'''(?:{_ESCAPE}|[^\\']|'(?!''))*'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    )
)
_EXPONENT: Final = "[eE][+-]?[0-9]+"
# In the order of cel-go's lexer: the longest match wins, the first of equally long ones.
_GRAMMAR: Final = re.compile(
    "|".join(
        (
            r"(?P<hidden>[\t \r\n\f]+|//[^\n]*)",
            rf"(?P<bytes>[bB](?:{_STRING}))",
            rf"(?P<string>{_STRING})",
            rf"(?P<float>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)",
            r"(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])",
            r"(?P<int>0x[0-9a-fA-F]+|[0-9]+)",
            r"(?P<ident>[A-Za-z_][A-Za-z0-9_]*)",
            r"(?P<escaped>`[A-Za-z0-9_./ -]+`)",
            r"(?P<sign>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])",
        )
    )
)
_WORDS: Final = frozenset(("in", "true", "false", "null"))


class Token(NamedTuple):
    """A token; ``kind`` is the text itself for signs and the words in, true, false and null."""

    kind: str
    text: str
    position: int


class BadCharacter(NamedTuple):
    """Characters that start no token."""

    text: str
    position: int


def tokens(source: str) -> Iterator[Token | BadCharacter]:
    """Yield the tokens of an expression, an end token last."""
    position = 0
    while position < len(source):
        found = _GRAMMAR.match(source, position)
        if found is None:
            wrong = _unmatched(source, position)
            yield BadCharacter(wrong, position)
            position += len(wrong)
            continue
        position = found.end()
        if found.lastgroup != "hidden":
            yield _token(found)
    yield Token("<EOF>", "<EOF>", len(source))


def _token(found: re.Match[str]) -> Token:
    text, kind = found[0], str(found.lastgroup)
    if kind == "sign" or text in _WORDS:
        kind = text
    return Token(kind, text, found.start())


def _unmatched(source: str, position: int) -> str:
    """Return what cel-go's lexer skips at once, up to a character that cannot follow."""
    quote = source[position]
    if quote not in "\"'":
        return source[position : position + (2 if quote in "=&|" else 1)]
    rest = re.compile(rf"{quote}(?:{_ESCAPE}|[^\\{quote}\n\r])*").match(source, position)
    end = rest.end() if rest else position + 1
    return source[position : end + (2 if source[end : end + 1] == "\\" else 1)]
