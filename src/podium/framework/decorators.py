"""Plugins made of one function: ``@podium.filter``, ``@podium.score(weight=2)`` and so on.

A decorated function stays a plain function, so that tests can call it. The plugin class made of it
is kept in an attribute of the function; ``function_plugins.py`` has the base classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, overload

from podium.api.objects import Pod
from podium.errors import PluginError
from podium.framework.dependencies import Dependencies
from podium.framework.events import Registration
from podium.framework.function_plugins import (
    FILTERS,
    SCORES,
    Forms,
    Function,
    PermitFunction,
    PostBindFunction,
    PreBindFunction,
    PreEnqueueFunction,
)
from podium.framework.plugin import EnqueueExtensions, Plugin, Scores, pod_fields

F = TypeVar("F", bound=Callable[..., Any])
Sign = str | tuple[str, ...] | Callable[[Pod], Hashable] | None
Events = Registration | Iterable[Registration] | None

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

    def class_of(self, function: Callable[..., Any], forms: Forms) -> type[Plugin]:
        """Return the plugin class for a function."""
        known = Function(function, self.name or function.__name__, forms)
        bases: tuple[type[Plugin], ...] = (known.base,)
        attributes: dict[str, Any] = {
            "name": known.plugin,
            "weight": self.weight,
            "reason": self.reason or known.base.reason.format(known.plugin),
            "function": known,
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
            return Dependencies(node=said)
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


def _decorate(function: Any, forms: Forms, options: _Options) -> Any:
    """Decorate now (``@filter``), or return what decorates (``@filter(name=...)``)."""
    if function is None:
        return lambda function: _decorate(function, forms, options)
    setattr(function, PLUGIN, options.class_of(function, forms))
    return function


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
) -> Callable[[F], F]: ...
def filter(function: Any = None, /, **options: Any) -> Any:
    """Make a Filter plugin of a function that takes ``pod``, ``node`` or ``nodes``.

    With ``node`` it returns ``True`` or ``None`` (fits), ``False``, a reason or a Status; with
    ``nodes`` an array of booleans or a ``fwk.Column`` of such answers, one for each node. With
    neither it is called once in each attempt. ``reason`` says why, where it returns ``False``.
    """
    return _decorate(function, FILTERS, _Options(**options))


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
) -> Callable[[F], F]: ...
def score(function: Any = None, /, **options: Any) -> Any:
    """Make a Score plugin of a function that takes ``pod``, ``node`` or ``nodes``.

    It returns a whole number from 0 to 100; with ``nodes`` an array of them, one for each node.
    With ``normalize=fwk.scale`` any numbers that are not negative are brought into that range.
    """
    return _decorate(function, SCORES, _Options(**options))


class _Decorator:
    """``@permit`` or ``@permit(name="Quota")``; the name is the function's own by default."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, *, name: str = "", events: Events = None) -> Callable[[F], F]: ...
    def __call__(self, function: Any = None, *, name: str = "", events: Any = None) -> Any:
        return _decorate(function, self._forms, _Options(name, events=events))


pre_enqueue = _Decorator((PreEnqueueFunction,))
permit = _Decorator((PermitFunction,))
pre_bind = _Decorator((PreBindFunction,))
post_bind = _Decorator((PostBindFunction,))
