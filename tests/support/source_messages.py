"""The sentences in a plugin's source: what it can say to people, read off the code itself.

A sentence is a text of several words in code that the plugin's class reaches, through any module
of its package. Docstrings, log lines and what the checks of its arguments say do not count. Parts
that are filled in at run time read ``{}``.
"""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

PLUGINS = ("podium.plugins.", "podium.scheduler_plugins.")
ROOTLESS = "\0"  # no module starts so
FILLED_IN = "{}"

Place = tuple[str, str]  # a module and a name in it


def of(plugin: type) -> set[str]:
    """All that this plugin can say."""
    return {
        text
        for place in _reachable((plugin.__module__, plugin.__name__))
        for text in _sentences(_definitions(place[0])[place[1]])
    }


def _reachable(start: Place) -> set[Place]:
    """The definitions of the plugins' package that this one leads to, itself included."""
    found: set[Place] = set()
    waiting = [start]
    root = next((each for each in PLUGINS if start[0].startswith(each)), ROOTLESS)
    while waiting:
        place = _resolved(*waiting.pop(), root)
        if place is None or place in found:
            continue
        found.add(place)
        waiting += _mentioned(place)
    return found


def _resolved(module: str, name: str, root: str) -> Place | None:
    """Where a name is defined, through imports; ``None`` for what is not below ``root``."""
    while module.startswith(root):
        if name in _definitions(module):
            node = _definitions(module)[name]
            return None if _is_args(node) else (module, name)
        origin = _imports(module).get(name)
        if origin in (None, (module, name)):  # not imported, or a module of this package
            return None
        module, name = origin
    return None


def _mentioned(place: Place) -> Iterator[Place]:
    module, name = place
    for node in _walk(_definitions(module)[name]):
        if isinstance(node, ast.Name):
            yield module, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            imported = _imports(module).get(node.value.id)
            if imported is not None:  # of a module: ``hints.pod_made_room``
                yield ".".join(imported), node.attr


@cache
def _tree(module: str) -> ast.Module:
    try:
        path = import_module(module).__file__
    except ImportError:  # a class that is taken for a module: nothing to read
        path = None
    return ast.parse(Path(path).read_text() if path else "")


@cache
def _definitions(module: str) -> dict[str, ast.AST]:
    """What the module defines at its top, by name."""
    found: dict[str, ast.AST] = {}
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                found |= {each.id: node for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


@cache
def _imports(module: str) -> dict[str, Place]:
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in _tree(module).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _sentences(node: ast.AST) -> Iterator[str]:
    for each in _walk(node):
        if isinstance(each, ast.JoinedStr):
            parts = [v.value if isinstance(v, ast.Constant) else FILLED_IN for v in each.values]
            text = "".join(map(str, parts))
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            text = each.value
        else:
            continue
        words = [word for word in text.split() if word[0].isalnum() or FILLED_IN in word]
        if len(words) > 1 and any(map(str.isalpha, text)):
            yield text


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node inside but those that say nothing to the users of a running scheduler."""
    yield node
    if isinstance(node, ast.JoinedStr):
        children = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        if not (_is_docstring(child) or _is_aside(child) or _is_args(child)):
            yield from _walk(child)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_aside(node: ast.AST) -> bool:
    """A line for the log, the name of a task, or a type in quotes."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    return "log." in called or called.endswith("spawn") or called == "cast"


def _is_args(node: ast.AST) -> bool:
    """The arguments of a plugin: what is wrong with them is said when a configuration is loaded."""
    return isinstance(node, ast.ClassDef) and any(
        ast.unparse(base) in ("Args", "fwk.Args") for base in node.bases
    )
