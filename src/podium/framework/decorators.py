"""Plugins made of one function: ``@podium.filter``, ``@podium.score(weight=2)`` and so on.

A decorated function stays a plain function, so that tests can call it. The plugin class made of it
is kept in an attribute of the function; ``function_plugins.py`` has the base classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MethodType
from typing import Any, Final, NamedTuple, TypeVar, overload

from podium.api.meta import ApiObject
from podium.api.objects import Pod
from podium.errors import PluginError, did_you_mean
from podium.framework import options as checks
from podium.framework.dependencies import Dependencies, are_aspects
from podium.framework.events import Registration
from podium.framework.field_signatures import pod_fields
from podium.framework.function_plugins import (
    FILTERS,
    SCORES,
    Forms,
    Function,
    FunctionPlugin,
    PermitFunction,
    PostBindFunction,
    PreBindFunction,
    PreEnqueueFunction,
)
from podium.framework.plugin import EnqueueExtensions, Plugin
from podium.framework.scores import Scores

F = TypeVar("F", bound=Callable[..., Any])
Sign = str | tuple[str, ...] | Callable[[Pod], Hashable] | None
Events = Registration | Iterable[Registration] | None
Kinds = Sequence[type[ApiObject]]

PLUGIN: Final = "__podium_plugin__"  # the attribute of a function that holds the plugin made of it

# The default of ``sign`` and ``depends_on``: work it out from the names of the parameters.
INFER: Final[Any] = object()


@dataclass(frozen=True, slots=True)
class _Options:
    """What a decorator was given in parentheses."""

    name: str = ""
    weight: int = 1
    reason: str = ""
    normalize: Callable[[Scores], Scores] | None = None
    sign: Any = INFER
    depends_on: Any = INFER
    events: Any = None
    watches: Kinds = ()

    def class_of(self, function: Callable[..., Any], forms: Forms) -> type[Plugin]:
        """Return the plugin class for a function."""
        is_named = bool(self.name) and not any(checks.name_problems(self.name))
        known = Function(function, self.name if is_named else function.__name__, forms)
        if problems := list(self._problems()):
            raise PluginError(f"{known}: {'; '.join(problems)}")
        bases: tuple[type[Plugin], ...] = (known.base,)
        attributes: dict[str, Any] = {
            "name": known.plugin,
            "weight": self.weight,
            "reason": self.reason or known.base.reason.format(known.plugin),
            "function": known,
            "watches": tuple(self.watches),
            "__module__": function.__module__,
            "__qualname__": function.__qualname__,
            "__doc__": function.__doc__,
        }
        sign, depends_on = self._signature(known), self._dependencies(known)
        attributes["depends_on"] = lambda self, pod: depends_on
        if sign is not None:
            attributes["sign"] = lambda self, pod: sign(pod)
        if (normalize := self.normalize) is not None:
            attributes["normalize_score"] = lambda self, state, pod, raw, nodes: normalize(raw)
        if self.events is not None:
            registrations = self._registrations(known)
            attributes["events_to_register"] = lambda self: list(registrations)
            bases = (known.base, EnqueueExtensions)
        return type(function.__name__, bases, attributes)

    def _problems(self) -> Iterator[str]:
        yield from checks.name_problems(self.name)
        yield from checks.weight_problems(self.weight)
        yield from checks.watches_problems(self.watches)
        if not isinstance(self.reason, str):
            yield f"reason must be a text, not {self.reason!r}"
        if self.normalize is not None and not callable(self.normalize):
            yield f"normalize must be a function such as fwk.scale, not {self.normalize!r}"
        if isinstance(self.sign, str):
            yield from checks.fields_problems((self.sign,))
        elif isinstance(self.sign, tuple | list):
            yield from checks.fields_problems(self.sign)

    def _signature(self, function: Function) -> Callable[[Pod], Hashable] | None:
        sign = self.sign
        if sign is INFER:
            return _same_for_all_pods if function.ignores_the_pod else None
        if isinstance(sign, str | tuple | list):
            return pod_fields(*((sign,) if isinstance(sign, str) else sign))
        if sign is None or callable(sign):
            return sign  # type: ignore[no-any-return]  # what it takes and returns shows when called
        what = "a pod field such as 'metadata.labels', a tuple of them, a function of pod, or None"
        raise PluginError(f"{function}: sign must be {what}, not {sign!r}")

    def _dependencies(self, function: Function) -> Dependencies:
        said = self.depends_on
        if said is INFER:
            return function.dependencies
        if isinstance(said, int) and not isinstance(said, bool):
            return Dependencies(node=_aspects(said, function))
        if isinstance(said, Dependencies):
            return said
        what = "aspects of a node such as fwk.Aspect.LABELS, or fwk.Dependencies(...)"
        raise PluginError(f"{function}: depends_on must be {what}, not {said!r}")

    def _registrations(self, function: Function) -> tuple[Registration, ...]:
        said = self.events
        events = tuple(said) if isinstance(said, list | tuple) else (said,)
        for event in events:
            if not isinstance(event, Registration):
                what = "fwk.on(...) or a list of these"
                raise PluginError(f"{function}: events must be {what}, not {event!r}")
        return events


def _same_for_all_pods(pod: Pod) -> Hashable:
    return ()


def _aspects(said: int, function: Function) -> int:
    if said == 0:
        text = "depends_on=0 names no aspect; if it depends on nothing: fwk.Dependencies()"
        raise PluginError(f"{function}: {text}")
    if not are_aspects(said):
        text = f"depends_on must be a sum of fwk.Aspect bits such as fwk.Aspect.LABELS, not {said}"
        raise PluginError(f"{function}: {text}")
    return said


class _Decorates(NamedTuple):
    """What one decorator makes of a function, and the options that it takes."""

    name: str
    forms: Forms
    options: tuple[str, ...] = ("name", "events", "watches")


_FILTER: Final = _Decorates(
    "filter", FILTERS, ("name", "reason", "sign", "depends_on", "events", "watches")
)
_SCORE: Final = _Decorates(
    "score", SCORES, ("name", "weight", "normalize", "sign", "depends_on", "events", "watches")
)


def _decorate(function: Any, by: _Decorates, options: Mapping[str, Any]) -> Any:
    """Decorate now (``@filter``), or return what decorates (``@filter(name=...)``)."""
    _check_names(by, options)
    if function is None:
        return lambda function: _decorate(function, by, options)
    _check_function(function, by)
    setattr(function, PLUGIN, _Options(**options).class_of(function, by.forms))
    return function


def _check_names(by: _Decorates, options: Mapping[str, Any]) -> None:
    """Raise for an option that this decorator does not have."""
    for name in options:
        if name in by.options:
            continue
        other = next((each.name for each in (_FILTER, _SCORE) if name in each.options), "")
        hint = f"; only @podium.{other} has it" if other else did_you_mean(name, by.options)
        known = ", ".join(by.options)
        raise PluginError(f"@podium.{by.name} has no option {name}; it has: {known}{hint}")


def _check_function(given: Any, by: _Decorates) -> None:
    """Raise for what is not a function, or cannot carry the plugin that is made of it."""
    if isinstance(given, str):
        text = f'expected a function, got {given!r}; for a name write name="..."'
        raise PluginError(f"@podium.{by.name}: {text}")
    has = all(hasattr(given, each) for each in ("__name__", "__qualname__", "__dict__"))
    if not callable(given) or not has or isinstance(given, type | MethodType | partial):
        text = f"expected a function written with def, got {given!r}; write one that calls it"
        raise PluginError(f"@podium.{by.name}: {text}")


@overload
def filter(function: F, /) -> F: ...
@overload
def filter(
    *,
    name: str = "",
    reason: str = "",
    sign: Sign = INFER,
    depends_on: int | Dependencies = INFER,
    events: Events = None,
    watches: Kinds = (),
) -> Callable[[F], F]: ...
def filter(function: Any = None, /, **options: Any) -> Any:
    """Make a Filter plugin of a function that takes ``pod``, ``node`` or ``nodes``.

    With ``node`` it returns ``True`` or ``None`` (fits), ``False``, a reason or a Status; with
    ``nodes`` an array of booleans or a ``fwk.Column`` of such answers, one for each node. With
    neither it is called once in each attempt. ``reason`` says why, where it returns ``False``.
    """
    return _decorate(function, _FILTER, options)


@overload
def score(function: F, /) -> F: ...
@overload
def score(  # options, each of which has a default
    *,
    name: str = "",
    weight: int = 1,
    normalize: Callable[[Scores], Scores] | None = None,
    sign: Sign = INFER,
    depends_on: int | Dependencies = INFER,
    events: Events = None,
    watches: Kinds = (),
) -> Callable[[F], F]: ...
def score(function: Any = None, /, **options: Any) -> Any:
    """Make a Score plugin of a function that takes ``pod``, ``node`` or ``nodes``.

    It returns a whole number from 0 to 100; with ``nodes`` an array of them, one for each node.
    With ``normalize=fwk.scale`` any numbers that are not negative are brought into that range.
    """
    return _decorate(function, _SCORE, options)


class _Decorator:
    """``@permit`` or ``@permit(name="Quota")``; the name is the function's own by default."""

    def __init__(self, name: str, form: type[FunctionPlugin]) -> None:
        self._decorates = _Decorates(name, (form,))

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(
        self, *, name: str = "", events: Events = None, watches: Kinds = ()
    ) -> Callable[[F], F]: ...
    def __call__(self, function: Any = None, **options: Any) -> Any:
        return _decorate(function, self._decorates, options)


pre_enqueue = _Decorator("pre_enqueue", PreEnqueueFunction)
permit = _Decorator("permit", PermitFunction)
pre_bind = _Decorator("pre_bind", PreBindFunction)
post_bind = _Decorator("post_bind", PostBindFunction)
