"""Read one YAML or JSON document into plain values, and note the line of every path.

Scalars mean what they mean to kube-scheduler: times and "1:30" stay strings, 1e3 is a number.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from podium.api.manifests import FLOAT, INT, TAG
from podium.config.problems import Problems, child, show, whole_text

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_VALUES = 100_000

_MOST_DIGITS = 38
_WIDEST_INTEGER = 128  # bits
_CONSTANTS = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_TRUE = ("yes", "true", "on")


def _plain(tag: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return f"{TAG}{tag}", re.compile(rf"(?:{pattern})\Z")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # chosen at run time
    """Builds YAML nodes only, so that no tag in a file makes Python construct an object."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # the base class declares it so
        None: [
            _plain("null", "~|null|Null|NULL|"),
            _plain("bool", "(?i:yes|no|true|false|on|off)"),
            (f"{TAG}int", INT),
            (f"{TAG}float", FLOAT),
            _plain("merge", "<<"),
        ]
    }


class Unreadable(Exception):
    """The document as a whole cannot be read. Raised and caught inside this package."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file, or raise ``Unreadable`` with the reason."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # a device may have no end
        if len(data) > MAX_BYTES:
            raise Unreadable(f"too large: at most {MAX_BYTES} bytes are read")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Unreadable("cannot be read: not UTF-8 text") from error


def read(text: str) -> tuple[Any, Problems]:
    """Return the document's value and its problems so far: duplicate keys and unusable scalars."""
    lines: dict[str, int] = {}
    problems = Problems(lines)
    try:
        node = _only_document(_checked(text))
        value = _Values(lines, problems).of(node, "", 0) if node else None
    except yaml.YAMLError as error:
        value = None
        problems.add_at("", _line_of(error), f"not readable as YAML or JSON: {_reason_of(error)}")
    except Unreadable as error:
        value = None
        problems.add_at("", error.line, str(error))
    return value, problems


def _checked(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Unreadable("not readable: the text is not valid Unicode") from None
    if size > MAX_BYTES:
        raise Unreadable(f"too large: {size} bytes; at most {MAX_BYTES} are read")
    text = _as_yaml(text)
    depth = 0
    # Building nodes recurses, so the depth is judged on the flat stream of events first.
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _too_deep(event.start_mark.line + 1)
    return text


def _too_deep(line: int) -> Unreadable:
    return Unreadable(f"nested too deeply: more than {MAX_DEPTH} levels", line)


def _as_yaml(text: str) -> str:
    """JSON is YAML, except for tabs between its tokens and escaped surrogate pairs."""
    if not text.lstrip().startswith("{") or not _is_json(text):
        return text
    return _ESCAPES.sub(_joined, text.replace("\t", " "))


_ESCAPES = re.compile(r"(?P<halves>(?:\\u[dD][89a-fA-F][\da-fA-F]{2})+)|\\.")


def _joined(escape: re.Match[str]) -> str:
    return whole_text(json.loads(f'"{escape[0]}"')) if escape["halves"] else escape[0]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _only_document(text: str) -> yaml.Node | None:
    nodes = [node for node in yaml.compose_all(text, Loader=_Loader) if not _is_empty(node)]
    if len(nodes) > 1:
        line = nodes[1].start_mark.line + 1
        raise Unreadable("a second document begins; a configuration is one document", line)
    return nodes[0] if nodes else None


def _is_empty(node: yaml.Node | None) -> bool:
    return node is None or (isinstance(node, yaml.ScalarNode) and node.tag == f"{TAG}null")


class _Values:
    """Turns nodes into values. Aliases are expanded, so the number of values is limited."""

    def __init__(self, lines: dict[str, int], problems: Problems) -> None:
        self.lines = lines
        self.problems = problems
        self.count = 0

    def of(self, node: yaml.Node, path: str, depth: int) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self.count += 1
        if self.count > MAX_VALUES:
            raise Unreadable(f"too large: more than {MAX_VALUES} values, aliases counted", line)
        if depth > MAX_DEPTH:  # an alias inside its own anchor
            raise _too_deep(line)
        match node:
            case yaml.MappingNode(tag="tag:yaml.org,2002:map"):
                return self._mapping(node, path, depth)
            case yaml.SequenceNode(tag="tag:yaml.org,2002:seq"):
                items = enumerate(node.value)
                return [self.of(item, f"{path}[{index}]", depth + 1) for index, item in items]
            case yaml.ScalarNode():
                return self._scalar(node, path)
        self.problems.add_at(path, line, f"the YAML tag {show(node.tag)} is not supported")
        return None

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, item in node.value:
            if key.tag == f"{TAG}merge":
                for other in self._merged(item, path, depth):
                    merged = other | merged
                continue
            name = self._key(key, path)
            where = child(path, name)
            line = key.start_mark.line + 1
            if name in own:
                first = f"; it is first set on line {self.lines[where]}"
                self.problems.add_at(where, line, f"key {show(name)} already set in map{first}")
            else:
                self.lines[where] = line
                own[name] = self.of(item, where, depth + 1)
        return merged | own

    def _merged(self, node: yaml.Node, path: str, depth: int) -> Iterator[dict[str, Any]]:
        """Yield the mappings behind ``<<``: one, or several of which the first wins."""
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for item in items:
            value = self.of(item, path, depth + 1)
            if isinstance(value, dict):
                yield value
            else:
                line = item.start_mark.line + 1
                self.problems.add_at(path, line, "a merge key (<<) takes an alias of a mapping")

    def _key(self, key: yaml.Node, path: str) -> str:
        if isinstance(key, yaml.ScalarNode):
            return whole_text(key.value)
        self.problems.add_at(path, key.start_mark.line + 1, "a key must be a string")
        return "?"

    def _scalar(self, node: yaml.ScalarNode, path: str) -> Any:
        try:
            return _scalar(node.tag.removeprefix(TAG), node.value)
        except (ValueError, KeyError):
            self.problems.add(path, f"the YAML tag {show(node.tag)} does not fit this value")
            return None


def _scalar(tag: str, text: str) -> Any:
    match tag:
        case "str" | "merge":
            return whole_text(text)
        case "null":
            return None
        case "bool":
            return text.lower() in _TRUE
        case "int":
            return _integer(text.replace("_", "").lower())
        case "float":
            return _CONSTANTS.get(text.lower()) or float(text.replace("_", ""))
    raise KeyError(tag)


def _integer(text: str) -> int | float:
    digits = text.lstrip("+-")
    if len(digits) > _MOST_DIGITS:
        # No field takes it, and Python refuses to print the longest integers.
        return float(text) if digits.isdigit() else math.inf
    if digits.startswith("0") and digits.isdigit():
        return int(text, 8)
    return int(text, 0)


def _line_of(error: yaml.YAMLError) -> int | None:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return mark.line + 1 if mark else None


def _reason_of(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error).replace("\n", " ")


def plain(value: Any, path: str, problems: Problems, depth: int = 0) -> Any:
    """Copy a value that a program handed in as a JSON parser would have returned it.

    Dicts, lists and scalars are copied; anything else is a problem and becomes ``None``.
    """
    if depth > MAX_DEPTH:
        problems.add(path, f"nested too deeply: more than {MAX_DEPTH} levels")
        return None
    match value:
        case None | bool() | float():
            return value
        case str():
            return whole_text(value)
        case int():
            return value if value.bit_length() <= _WIDEST_INTEGER else _infinite(value)
        case Mapping():
            return _plain_mapping(value, path, problems, depth)
        case list() | tuple():
            items = enumerate(value)
            return [plain(item, f"{path}[{i}]", problems, depth + 1) for i, item in items]
    problems.add(path, f"a {type(value).__name__} is not a JSON value")
    return None


def _infinite(value: int) -> float:
    """Stand in for a number that no field takes: Python refuses to print the longest integers."""
    return math.inf if value > 0 else -math.inf


def _plain_mapping(
    value: Mapping[Any, Any], path: str, problems: Problems, depth: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(key, str):
            name = whole_text(key)
            found[name] = plain(item, child(path, name), problems, depth + 1)
        else:
            problems.add(path, f"a key must be a string, not a {type(key).__name__}")
    return found
