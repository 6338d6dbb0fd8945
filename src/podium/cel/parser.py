"""Parse a CEL expression into its syntax tree; macros are expanded on the way.

Only the first syntax error is reported; other mistakes, such as literals out of range, are
collected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from podium.cel import literals
from podium.cel.issues import Issue, Issues
from podium.cel.lexer import Token
from podium.cel.macros import BadMacro, Macros
from podium.cel.syntax import (
    Call,
    Entry,
    FieldInit,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Node,
    Select,
    StructNode,
)
from podium.cel.token_stream import STARTS, TOO_DEEP, TokenStream
from podium.cel.values import Value

MAX_LENGTH: Final = 100_000

_RESERVED: Final = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)
_TERNARY, _OR, _AND, _RELATION, _SUM, _PRODUCT = range(6)
_LEVELS: Final = (
    {"?": _TERNARY, "||": _OR, "&&": _AND}
    | dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), _RELATION)
    | dict.fromkeys("+-", _SUM)
    | dict.fromkeys("*/%", _PRODUCT)
)
# cel-go's parser limits how deep each of its rules nests; longer chains of operators nest deeper.
_RULES: Final = {_RELATION: "relation", _SUM: "calc", _PRODUCT: "calc"}
_OPERATORS: Final = {"in": "@in"}
_CONSTANTS: Final[dict[str, Value]] = {"true": True, "false": False, "null": None}
_READERS: Final[dict[str, Callable[[str], Value]]] = {
    "int": literals.read_int,
    "uint": literals.read_uint,
    "float": literals.read_double,
    "string": literals.read_string,
    "bytes": literals.read_bytes,
}


def parse(source: str, macros: Macros, *, has_quoted_names: bool = True) -> Node:
    """Return the tree of an expression; raise ``Issues`` with everything that is wrong."""
    if len(source) > MAX_LENGTH:
        message = (
            f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_LENGTH}"
        )
        raise Issues((Issue(-1, message),))
    return _Parser(source, macros, has_quoted_names).parse()


class _Parser:
    def __init__(self, source: str, macros: Macros, has_quoted_names: bool) -> None:
        self._tokens = TokenStream(source)
        self._macros = macros
        self._has_quoted_names = has_quoted_names

    def parse(self) -> Node:
        try:
            tree = self._expression()
            if self._tokens.kind != "<EOF>":
                self._tokens.unexpected("<EOF>")
        except RecursionError:
            raise Issues((Issue(-1, TOO_DEEP),)) from None
        if self._tokens.issues:
            raise Issues(tuple(self._tokens.issues))
        return tree

    def _element(self, *also: str) -> Node:
        """Parse the expression after an opening bracket, where other tokens would do as well."""
        self._tokens.also = frozenset(also)
        return self._expression()

    def _wrong(self, position: int, message: str) -> Node:
        self._tokens.issues.append(Issue(position, message))
        return Literal(position, None)

    def _expression(self, lowest: int = _TERNARY) -> Node:
        """Parse operators of this level and above, by climbing their precedence."""
        if lowest == _TERNARY:
            self._tokens.enter("expr", TOO_DEEP)
        left, entered = self._operand(), Counter[str]()
        while (level := _LEVELS.get(self._tokens.kind, -1)) >= lowest:
            operator = self._tokens.take()
            if level == _TERNARY:
                left = self._conditional(left, operator)
            elif level in (_OR, _AND):
                left = self._logical(left, operator, level)
            else:
                entered[_RULES[level]] += 1
                self._tokens.enter(_RULES[level])
                left = self._operation(operator, left, self._expression(level + 1))
        self._tokens.depths.subtract(entered)
        if lowest == _TERNARY:
            self._tokens.depths["expr"] -= 1
        return left

    def _conditional(self, condition: Node, operator: Token) -> Node:
        chosen = self._expression(_OR)
        self._tokens.expect(":")
        return Call(operator.position, "_?_:_", [condition, chosen, self._expression()])

    def _logical(self, first: Node, operator: Token, level: int) -> Node:
        terms, positions = [first, self._expression(level + 1)], [operator.position]
        while following := self._tokens.accept(operator.kind):
            positions.append(following.position)
            terms.append(self._expression(level + 1))
        return _balanced(f"_{operator.kind}_", terms, positions)

    def _operation(self, operator: Token, left: Node, right: Node) -> Node:
        function = _OPERATORS.get(operator.kind) or f"_{operator.kind}_"
        return self._call(operator.position, function, [left, right])

    def _operand(self) -> Node:
        """Parse signs, an operand, and the selections, calls and indexes that follow it."""
        self._tokens.skip_extraneous()
        signs = []
        if self._tokens.kind in ("!", "-"):
            self._tokens.also = frozenset()
            sign = self._tokens.kind
            while self._tokens.kind == sign and not self._starts_number():
                signs.append(self._tokens.take())
        node, entered = self._primary(), 0
        while self._tokens.kind in (".", "[", "{"):
            if self._tokens.kind == "{" and not _qualified(node):
                break
            entered += 1
            self._tokens.enter("member")
            node = self._suffix(node)
        self._tokens.depths["member"] -= entered
        if len(signs) % 2:
            return self._call(signs[0].position, f"{signs[0].kind}_", [node])
        return node

    def _starts_number(self) -> bool:
        if self._tokens.kind != "-":
            return False
        return self._tokens.following() in ("int", "float")

    def _suffix(self, node: Node) -> Node:
        token = self._tokens.take()
        if token.kind == "{":
            return StructNode(token.position, _qualified(node), self._fields())
        optional = self._tokens.accept("?") is not None
        if token.kind == "[":
            index = self._element() if optional else self._element("?")
            self._tokens.close("]")
            return self._call(token.position, "_[?_]" if optional else "_[_]", [node, index])
        return self._member(node, token, optional)

    def _member(self, node: Node, dot: Token, optional: bool) -> Node:
        name = self._tokens.accept("ident") or self._tokens.accept("escaped")
        if name is None:
            if optional:
                self._tokens.unexpected("IDENTIFIER, ESC_IDENTIFIER")
            self._tokens.no_alternative(dot)
        if name.kind == "escaped" and not self._has_quoted_names:
            self._wrong(name.position, "unsupported syntax: '`'")
        text = name.text.strip("`")
        if optional:
            return Call(dot.position, "_?._", [node, Literal(name.position, text)])
        opening = self._tokens.accept("(") if name.kind == "ident" else None
        if opening is not None:
            return self._call(opening.position, text, self._arguments(), node)
        return Select(dot.position, node, text)

    def _primary(self) -> Node:
        also, self._tokens.also = self._tokens.also, frozenset()
        token = self._tokens.take()
        sign = "-" if token.kind == "-" else ""
        match token.kind:
            case "ident":
                return self._name(token)
            case ".":
                name = self._tokens.accept("ident") or self._tokens.no_alternative(token)
                return self._name(name, ".")
            case "(":
                inner = self._expression()
                self._tokens.close(")")
                return inner
            case "[":
                return self._list(token)
            case "{":
                return MapNode(token.position, self._entries())
            case "true" | "false" | "null":
                return Literal(token.position, _CONSTANTS[token.kind])
        if sign and self._tokens.kind in ("int", "float"):
            return self._literal(token, self._tokens.take(), sign)
        if token.kind in _READERS:
            return self._literal(token, token)
        self._tokens.put_back()
        self._tokens.also = also
        return self._tokens.unexpected(self._tokens.expected_start())

    def _literal(self, start: Token, token: Token, sign: str = "") -> Node:
        try:
            if sign and token.kind == "int":
                return Literal(start.position, literals.read_int(token.text, sign))
            return Literal(start.position, _READERS[token.kind](sign + token.text))
        except ValueError as error:
            return self._wrong(start.position, str(error))

    def _name(self, token: Token, dot: str = "") -> Node:
        if token.text in _RESERVED:
            return self._wrong(token.position, f"reserved identifier: {token.text}")
        if opening := self._tokens.accept("("):
            return self._call(opening.position, dot + token.text, self._arguments())
        return Ident(token.position, dot + token.text)

    def _arguments(self) -> list[Node]:
        self._tokens.also = frozenset(")")
        self._tokens.skip_extraneous()
        if self._tokens.accept(")"):
            self._tokens.also = frozenset()
            return []
        args = [self._element(")")]
        while self._tokens.accept(","):
            args.append(self._expression())
        self._tokens.close(")")
        return args

    def _list(self, opening: Token) -> Node:
        elements: list[Node] = []
        optional: set[int] = set()
        while not self._closes("]", bool(elements)):
            if self._tokens.accept("?"):
                optional.add(len(elements))
            elements.append(self._element(*(() if elements else ("]", ",", "?"))))
        return ListNode(opening.position, elements, frozenset(optional))

    def _closes(self, closing: str, is_later: bool) -> bool:
        """Take the end of a literal, or the comma before its next element."""
        if self._tokens.accept(closing):
            return True
        if not is_later:
            return bool(self._tokens.accept(",")) and bool(self._tokens.expect(closing))
        self._tokens.expect(",", f"'{closing}', ','")
        if self._tokens.kind in STARTS or self._tokens.kind in (closing, "?", "escaped"):
            return self._tokens.accept(closing) is not None
        if self._tokens.kind == "<EOF>" or self._tokens.following() != closing:
            self._tokens.unexpected(f"'{closing}'")
        self._tokens.close(closing)
        return True

    def _entries(self) -> list[Entry]:
        entries: list[Entry] = []
        while not self._closes("}", bool(entries)):
            optional = self._tokens.accept("?") is not None
            key = self._element(*(() if entries else ("}", ",", "?")))
            colon = self._tokens.expect(":")
            entries.append(Entry(colon.position, key, self._expression(), optional))
        return entries

    def _fields(self) -> list[FieldInit]:
        fields: list[FieldInit] = []
        while not self._closes("}", bool(fields)):
            optional = self._tokens.accept("?") is not None
            name = self._tokens.accept("escaped") or self._tokens.expect("ident", "IDENTIFIER")
            colon = self._tokens.expect(":")
            fields.append(
                FieldInit(colon.position, name.text.strip("`"), self._expression(), optional)
            )
        return fields

    def _call(self, position: int, name: str, args: list[Node], target: Node | None = None) -> Node:
        macro = self._macros.get((name, len(args), target is not None))
        if macro is not None:
            try:
                expansion = macro(target, args, position)
            except BadMacro as error:
                return self._wrong(*error.issue)
            if expansion is not None:
                return expansion
        return Call(position, name, args, target)


def _balanced(function: str, terms: list[Node], positions: list[int]) -> Node:
    """Join the terms of one logical operator to a tree of little depth."""
    if len(terms) == 1:
        return terms[0]
    middle = len(positions) // 2
    left = _balanced(function, terms[: middle + 1], positions[:middle])
    right = _balanced(function, terms[middle + 1 :], positions[middle + 1 :])
    return Call(positions[middle], function, [left, right])


def _qualified(node: Node) -> str:
    """Return a dotted name as text, or nothing if the node is not one."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return ""
    return ".".join((node.name, *reversed(names)))
