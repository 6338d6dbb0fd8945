"""The tokens of an expression under a parser, with cel-go's messages for what is unexpected.

Like cel-go's parser, it leaves out one token too many and makes up a missing bracket, so that it
can report more than one mistake.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NoReturn

from podium.cel.issues import Issue, Issues
from podium.cel.lexer import BadCharacter, Token, tokens

MAX_DEPTH: Final = 250
TOO_DEEP: Final = f"expression recursion limit exceeded: {MAX_DEPTH}"
_TOO_LONG: Final = "max recursion depth exceeded"

# The tokens that an expression can start with, and what messages call them, in cel-go's order.
STARTS: Final = frozenset(
    ("[", "{", "(", ".", "-", "!", "true", "false", "null", "float", "int", "uint", "string")
) | {"bytes", "ident"}
_NAMES: Final = {
    **{sign: f"'{sign}'" for sign in "[]{}().,-!?"},
    **{word: f"'{word}'" for word in ("true", "false", "null")},
    "float": "NUM_FLOAT",
    "int": "NUM_INT",
    "uint": "NUM_UINT",
    "string": "STRING",
    "bytes": "BYTES",
    "ident": "IDENTIFIER",
}
_OPERATORS: Final = ("?", "||", "&&", "<", "<=", ">=", ">", "==", "!=", "in", *"+-*/%")
# What can follow a closed parenthesis or index, so that a missing one is easy to make up.
_FOLLOWS: Final = frozenset((*_OPERATORS, "<EOF>", ")", "]", "}", ",", ":", ".", "["))


class TokenStream:
    """The tokens that are still to be parsed, and the mistakes found so far.

    ``also`` has the kinds of tokens that would do in place of an expression right now.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens: list[Token] = []
        self.issues: list[Issue] = []
        for token in tokens(source):
            if isinstance(token, BadCharacter):
                message = f"Syntax error: token recognition error at: '{token.text}'"
                self.issues.append(Issue(token.position, message))
            else:
                self._tokens.append(token)
        self._next = 0
        self.also: frozenset[str] = frozenset()
        self.depths: Counter[str] = Counter()

    @property
    def kind(self) -> str:
        return self._tokens[self._next].kind

    def take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def accept(self, kind: str) -> Token | None:
        return self.take() if self.kind == kind else None

    def expect(self, kind: str, expected: str = "") -> Token:
        return self.accept(kind) or self.unexpected(expected or f"'{kind}'")

    def unexpected(self, expected: str) -> NoReturn:
        """Give up at the current token."""
        token = self._tokens[self._next]
        kind = "mismatched"
        if expected == "<EOF>" and self._tokens[self._next + 1].kind == "<EOF>":
            kind = "extraneous"
        shown = f"{{{expected}}}" if ", " in expected else expected
        self.syntax(token, f"{kind} input '{token.text}' expecting {shown}")
        raise Issues(tuple(self.issues))

    def syntax(self, token: Token, message: str) -> None:
        self.issues.append(Issue(token.position, f"Syntax error: {message}"))

    def no_alternative(self, start: Token) -> NoReturn:
        """Give up where what follows a dot cannot be a name."""
        token = self._tokens[self._next]
        if token.kind in ("true", "false", "null"):
            self.unexpected("IDENTIFIER")
        end = len(self._source) if token.kind == "<EOF>" else token.position + len(token.text)
        self.syntax(token, f"no viable alternative at input '{self._source[start.position : end]}'")
        raise Issues(tuple(self.issues))

    def expected_start(self) -> str:
        accepted = STARTS | self.also
        return ", ".join(name for kind, name in _NAMES.items() if kind in accepted)

    def skip_extraneous(self) -> None:
        """Leave out one token that cannot start an expression, if the next one can."""
        token, accepted = self._tokens[self._next], STARTS | self.also
        if token.kind in accepted or token.kind == "<EOF>":
            return
        if self._tokens[self._next + 1].kind in accepted:
            expected = self.expected_start()
            self.syntax(token, f"extraneous input '{token.text}' expecting {{{expected}}}")
            self._next += 1

    def close(self, closing: str) -> None:
        """Take a closing bracket; one that is missing, or hidden by one token, is made up."""
        token = self._tokens[self._next]
        if token.kind == closing:
            self._next += 1
        elif token.kind != "<EOF>" and self._tokens[self._next + 1].kind == closing:
            self.syntax(token, f"extraneous input '{token.text}' expecting '{closing}'")
            self._next += 2
        elif token.kind in _FOLLOWS:
            self.syntax(token, f"missing '{closing}' at '{token.text}'")
        else:
            self.unexpected(f"'{closing}'")

    def enter(self, rule: str, message: str = _TOO_LONG) -> None:
        self.depths[rule] += 1
        if self.depths[rule] > MAX_DEPTH:
            raise Issues((Issue(-1, message),))

    def put_back(self) -> None:
        self._next -= 1

    def following(self) -> str:
        """Return the kind of the token after the current one."""
        return self._tokens[self._next + 1].kind
