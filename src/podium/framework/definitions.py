"""Check what an author writes as a plugin: a class, a factory, or a decorated function.

The registry calls this; whatever is wrong is a ``PluginError`` that says where, and what to do.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from podium.errors import PluginError
from podium.framework import options
from podium.framework.calls import source_of
from podium.framework.cycle_state import Cloneable
from podium.framework.decorators import PLUGIN
from podium.framework.plugin import (
    EnqueueExtensions,
    FilterPlugin,
    Plugin,
    PreFilterExtensions,
    ReservePlugin,
    ScorePlugin,
)
from podium.framework.points import Point, points_of

if TYPE_CHECKING:
    from podium.framework.handle import Handle

Factory = Callable[[Any, "Handle"], Plugin]

_WAYS = (
    "write a class that inherits from fwk.FilterPlugin, fwk.ScorePlugin or another extension "
    "point, decorate a function with @podium.filter or @podium.score, or write a factory: "
    "def make(args, handle) -> ThatClass"
)
_INTERFACES: tuple[type[Plugin], ...] = (
    Plugin, *(point.interface for point in Point), PreFilterExtensions, EnqueueExtensions,
)  # fmt: skip
# Of two methods a plugin must have one.
_EITHER: tuple[tuple[type[Plugin], str, str], ...] = (
    (FilterPlugin, "filter", "filter_all"),
    (ScorePlugin, "score", "score_all"),
    (ReservePlugin, "reserve", "unreserve"),
)
# PodGroupPostFilter tries the group again, which may wait for extenders.
_MAY_WAIT = frozenset(("pod_group_post_filter", "unreserve", "pre_bind", "bind", "post_bind"))


class Definition(NamedTuple):
    """A plugin as its author wrote it: its class, and what builds it."""

    kind: type[Plugin]
    build: Factory


def definition_of(written: object) -> Definition:
    """Return the plugin behind a class, a factory or a decorated function."""
    if isinstance(written, type):
        if not issubclass(written, Plugin):
            raise PluginError(f"{_name_of(written)} is not a plugin: {_WAYS}")
        return Definition(written, written)
    made = getattr(written, PLUGIN, None)
    if made is not None:
        return Definition(made, made)
    kind = made_by(written)
    if kind is None:
        raise PluginError(f"{_name_of(written)} is not a plugin: {_WAYS}")
    return Definition(kind, typing.cast(Factory, written))


def made_by(written: object) -> type[Plugin] | None:
    """Return the plugin class that a factory builds, by its return annotation."""
    if not inspect.isroutine(written):
        return None
    try:
        promised = typing.get_type_hints(written).get("return")
    except NameError:  # an annotation that only a type checker understands
        return None
    is_plugin = isinstance(promised, type) and issubclass(promised, Plugin)
    return promised if is_plugin else None


def check_points(definition: Definition) -> None:
    """Raise if the plugin has no extension point: enabling it would do nothing."""
    if not points_of(definition.kind):
        source = source_of(definition.kind)
        raise PluginError(f"{source}: has no extension point: {_WAYS}")


def check(definition: Definition) -> None:
    """Raise now for mistakes that would otherwise show in the middle of a cycle."""
    problems = list(_problems(definition))
    if problems:
        raise PluginError(f"{source_of(definition.kind)}: {'; '.join(problems)}")


def _problems(definition: Definition) -> Iterator[str]:
    kind = definition.kind
    yield from _missing(kind)
    for base in _INTERFACES:
        if issubclass(kind, base):
            for method in _methods(base):
                yield from _wrong_form(kind, base, method)
    if definition.build is kind and not _takes(kind, 2):
        yield "its constructor must take (self, args, handle)"
    yield from _wrong_attributes(kind)
    if issubclass(kind, PreFilterExtensions) and not _has_state(kind):
        yield "State must be a type with a clone() method: a dry run changes copies only"


def _wrong_attributes(kind: type[Plugin]) -> Iterator[str]:
    yield from options.name_problems(kind.name)
    yield from options.weight_problems(kind.weight)
    yield from options.watches_problems(kind.watches)
    if kind.sign is not None and not callable(kind.sign):
        fields = 'sign = fwk.pod_fields("metadata.labels")'
        yield f"sign must be a method or None, not {kind.sign!r}; for fields write {fields}"


def _missing(kind: type[Plugin]) -> Iterator[str]:
    for method in sorted(getattr(kind, "__abstractmethods__", ())):
        yield f"lacks the method {method}{inspect.signature(getattr(kind, method))}"
    for base, one, other in _EITHER:
        if issubclass(kind, base) and not _has(kind, base, one, other):
            form = f"{one}{inspect.signature(getattr(base, one))}"
            yield f"lacks the method {form} or {other}"


def _methods(base: type[Plugin]) -> list[str]:
    """Return the methods that authors may write for an interface."""
    return sorted(
        name
        for name, each in vars(base).items()
        if inspect.isfunction(each) and not name.startswith("_")
    )


def _wrong_form(kind: type[Plugin], base: type[Plugin], method: str) -> Iterator[str]:
    own, wanted = getattr(kind, method), getattr(base, method)
    if not callable(own):
        yield f"{method} must be a method that takes {inspect.signature(wanted)}, not {own!r}"
        return
    count = len(inspect.signature(wanted).parameters)
    if not _takes(own, count):
        has = inspect.signature(own)
        yield f"{method}{has} must take {inspect.signature(wanted)}".replace(" -> ", ", giving ")
    if inspect.iscoroutinefunction(own) and method not in _MAY_WAIT:
        yield f"{method} cannot be async: all pods would wait for it; use handle.spawn"


def _takes(call: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(call).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def _has(kind: type[Plugin], base: type[Plugin], *methods: str) -> bool:
    """Whether the class has one of these methods itself."""
    return any(getattr(kind, name) is not getattr(base, name) for name in methods)


def _has_state(kind: type[PreFilterExtensions]) -> bool:
    state = getattr(kind, "State", None)
    return isinstance(state, type) and issubclass(state, Cloneable)


def _name_of(written: object) -> str:
    name = getattr(written, "__qualname__", None)
    return f"{getattr(written, '__module__', '')}.{name}" if name else repr(written)
