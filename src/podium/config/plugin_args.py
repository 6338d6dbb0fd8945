"""Decode ``pluginConfig``: the arguments of a profile's plugins, each as the plugin's own type."""

from collections.abc import Container, Iterable
from typing import Any, TypeVar

import msgspec

from podium.config import upstream, wire
from podium.config.decode import decode
from podium.config.problems import Problems, child, show
from podium.config.version import Catalog, Version
from podium.framework.args import Args, NoArgs, as_written, camel_case, spelled_twice
from podium.framework.status import text_of

A = TypeVar("A", bound=Args)

_GROUP = upstream.GROUP


def decode_plugin_config(
    entries: tuple[wire.PluginConfig, ...], path: str, catalog: Catalog, problems: Problems
) -> dict[str, Args]:
    """Return the given arguments by plugin; they are checked even where the plugin is disabled."""
    found: dict[str, Args] = {}
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        where = f"{path}[{index}]"
        if entry.name in seen:
            problems.add(where, f"Duplicate value: {show(entry.name)}")
        seen.add(entry.name)
        rejection = catalog.version.rejection(entry.name)
        if rejection:
            problems.invalid(where, entry.name, rejection)
        elif catalog.has(entry.name):
            args = _decoded(entry, where, catalog, problems)
            if args is not None:
                found.setdefault(entry.name, args)
    return found


def default_args(
    names: Iterable[str], path: str, catalog: Catalog, problems: Problems
) -> dict[str, Args]:
    """Return default arguments for enabled plugins that the file has no entry for."""
    found: dict[str, Args] = {}
    for name in names:
        needed = Problems(problems.lines)
        given = catalog.version.complete_args(name, {})
        args = _checked(given, catalog.registry.args_type(name), "", needed)
        if args is not None:
            found[name] = _without(args, catalog.forbidden_args(name))
        for problem in needed.found:
            problems.add(path, f'args of plugin "{name}": {problem.path}: {problem.message}')
    return found


def _decoded(
    entry: wire.PluginConfig, path: str, catalog: Catalog, problems: Problems
) -> Args | None:
    kind = catalog.registry.args_type(entry.name)
    if kind is NoArgs:
        return NoArgs()  # as upstream, whatever the file gives is ignored
    where = f"{path}.args"
    given = {} if entry.args is None else entry.args
    if not isinstance(given, dict):
        problems.invalid(where, given, "must be an object")
        return None
    if not _is_of_kind(entry.name, given, (where, catalog.version), problems):
        return None
    completed = catalog.version.complete_args(entry.name, _without_type(given, kind))
    spelled = as_written(completed, kind)
    for name, other in spelled_twice(completed, kind):
        problems.add(child(where, other), f"given twice: {name} and {other}; remove one of them")
        del spelled[other]
    for name in spelled.keys() - completed.keys():
        problems.moved[child(where, name)] = child(where, camel_case(name))
    forbidden = catalog.forbidden_args(entry.name)
    for name, refusal in forbidden.items():
        if spelled.pop(name, None) is not None:
            problems.add(child(where, name), f"Forbidden: {refusal}")
    args = _checked(spelled, kind, where, problems)
    return None if args is None else _without(args, forbidden)


def _is_of_kind(
    name: str, given: dict[str, Any], at: tuple[str, Version], problems: Problems
) -> bool:
    path, written_in = at
    expected = f"{name}Args"
    kind = given.get("kind") or expected
    if kind != expected:
        wanted = f"args for plugin {name} were not of type {expected}.{_GROUP}"
        problems.add(child(path, "kind"), f"{wanted}, got {_bare(kind)}.{_GROUP}")
        return False
    version = given.get("apiVersion") or written_in.api_version
    if name in upstream.ARGS_KINDS and version != written_in.api_version:
        message = f'no kind "{expected}" is registered for version {show(version)}'
        problems.add(child(path, "apiVersion"), f'{message}; use "{written_in.api_version}"')
        return False
    return True


def _bare(value: Any) -> str:
    return value if isinstance(value, str) else show(value)


def _without_type(given: dict[str, Any], kind: type[Args]) -> dict[str, Any]:
    """Drop apiVersion and kind, unless the plugin has arguments of these names."""
    names = {"apiVersion", "kind"}.difference(kind.__struct_encode_fields__)
    return {name: value for name, value in given.items() if name not in names}


def _checked(given: dict[str, Any], kind: type[A], path: str, problems: Problems) -> A | None:
    before = len(problems)
    try:
        args = decode(given, kind, path, problems)
        if args is None or len(problems) > before:
            return None
        for problem in args.validate():
            problems.add(child(path, problem.path) if problem.path else path, problem.message)
    except Exception as fault:  # an author's __post_init__ or validate() may raise anything
        problems.add(path, f"checking the args raised {type(fault).__name__}: {text_of(fault)}")
        return None
    return args


def _without(args: Args, forbidden: Container[str]) -> Args:
    """Unset these arguments, so that a file written from them can be read with the same gates."""
    fields = [each.name for each in msgspec.structs.fields(args) if each.encode_name in forbidden]
    return msgspec.structs.replace(args, **dict.fromkeys(fields)) if fields else args


def with_ignored_resources(args: Args, names: list[str]) -> Args:
    """Return NodeResourcesFit arguments that ignore exactly the resources extenders manage."""
    for field in msgspec.structs.fields(args):
        if field.encode_name == "ignoredResources":
            return msgspec.structs.replace(args, **{field.name: msgspec.convert(names, field.type)})
    return args
