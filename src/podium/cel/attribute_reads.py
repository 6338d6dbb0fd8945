"""Which attributes of a device a selector can read the values of.

Drivers give each device an attribute that no other device has, such as a serial number. Devices
that differ only in such attributes are alike for every selector that does not read them.
"""

from __future__ import annotations

from typing import Final

from podium.cel.syntax import Call, Comprehension, Ident, Literal, Node, Select, children, walk

# Indexing and selecting, each also in the form that returns an optional.
_LOOKUPS: Final = frozenset(("_[_]", "_[?_]", "_?._"))
_VALUE: Final = 3  # `device.attributes[domain][name]` is three lookups away from `device`


def attributes_read(tree: Node) -> frozenset[str] | None:
    """Return the names, without their domains, of the attributes whose values may be read.

    ``None`` means that the expression may read all of them: it computes a name, has a macro with
    variables, or uses more of the attributes than single values.
    """
    names: set[str] = set()
    if _depth(tree) < _VALUE:
        return None
    for node in walk(tree):
        if isinstance(node, Comprehension):
            return None
        if isinstance(node, Call) and node.function == "@in" and isinstance(node.args[0], Literal):
            continue  # whether there is a key does not depend on values
        found = _lookup(node)
        for part in children(node):
            depth = _depth(part)
            if depth >= _VALUE:
                continue
            if found is None or part is not found[0]:
                return None
            if depth == _VALUE - 1:
                if found[1] is None:
                    return None
                names.add(found[1])
    return frozenset(names)


def _lookup(node: Node) -> tuple[Node, str | None] | None:
    """Return in what a node looks something up, and the key; ``None`` if it is computed."""
    if isinstance(node, Select):
        return node.operand, node.field
    if not isinstance(node, Call) or node.function not in _LOOKUPS:
        return None
    operand, key = node.args
    return operand, key.value if isinstance(key, Literal) and isinstance(key.value, str) else None


def _depth(node: Node) -> int:
    """Return how many lookups a part of the attributes is away from the device.

    That is 0 for the device, 1 for all its attributes, 2 for those of a domain. Everything else
    counts as a value.
    """
    keys: list[str | None] = []
    while len(keys) < _VALUE:
        if isinstance(node, Ident):
            is_device = node.name in ("device", ".device") and keys[-1:] in ([], ["attributes"])
            return len(keys) if is_device else _VALUE
        found = _lookup(node)
        if found is None:
            break
        node, key = found
        keys.append(key)
    return _VALUE
