"""The plugins that a configuration may name. ``app`` hands in the in-tree ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from podium.devices import DeviceRules
from podium.errors import PluginError
from podium.framework.args import Args, NoArgs
from podium.framework.calls import FAULTS, source_of
from podium.framework.declared_kinds import PluginHandle
from podium.framework.definitions import Definition, Factory, check, check_points, definition_of
from podium.framework.plugin import Plugin, close
from podium.framework.points import Point, points_of
from podium.framework.status import text_of
from podium.release import LATEST, Release

if TYPE_CHECKING:
    from podium.framework.handle import Handle

IN_TREE: Final = "podium"
DEFAULT_RULES: Final = DeviceRules()


@dataclass(frozen=True, slots=True)
class Entry:
    """A known plugin: how it is built, what it implements, and where it was named.

    ``origin`` is where it was named: podium itself, an entry point, ``--plugin``, a program.
    ``is_enabled`` puts it into every profile that does not name it, with this weight.
    """

    name: str
    build: Factory
    args: type[Args]
    points: frozenset[Point]
    source: str
    origin: str = IN_TREE
    is_enabled: bool = False
    weight: int = 1


class _Offer(NamedTuple):
    load: Callable[[], object]
    origin: str


class Registry:
    """The plugins that a configuration may name, in the form that they have in a release."""

    def __init__(
        self,
        plugins: Iterable[object] = (),
        release: Release = LATEST,
        device_rules: DeviceRules = DEFAULT_RULES,
    ) -> None:
        self.release = release
        self.device_rules = device_rules
        self._entries: dict[str, Entry] = {}
        self._offers: dict[str, _Offer] = {}
        for plugin in plugins:
            self.register(plugin)

    def register(
        self, plugin: object, *, name: str = "", origin: str = IN_TREE, enable: bool = False
    ) -> Entry:
        """Add a class, a factory or a decorated function, under its own name or another."""
        definition = definition_of(plugin)
        name = name or definition.kind.name
        if not name:
            kind = definition.kind.__qualname__
            hint = f'write name = "{kind}" into it'
            raise PluginError(f"{source_of(definition.kind)} has no name: {hint}")
        check(definition)
        if enable:
            check_points(definition)
        if name in self:
            raise PluginError(self._taken(name, definition))
        entry = Entry(
            name,
            definition.build,
            definition.kind.Args,
            points_of(definition.kind),
            source_of(definition.kind),
            origin,
            enable,
            definition.kind.weight,
        )
        self._entries[name] = entry
        return entry

    def offer(self, name: str, load: Callable[[], object], origin: str) -> None:
        """Add a plugin that is loaded when its name is first used."""
        if name in self:
            raise PluginError(f"{origin}: a plugin named {name} already exists")
        self._offers[name] = _Offer(load, origin)

    def _taken(self, name: str, definition: Definition) -> str:
        offer, source = self._offers.get(name), source_of(definition.kind)
        known = offer.origin if offer else self._entries[name].source
        return f"{source}: a plugin named {name} already exists ({known}): choose another name"

    def copy(self) -> Registry:
        """Return a registry with the same plugins, to which more can be added."""
        other = Registry(release=self.release, device_rules=self.device_rules)
        other._entries, other._offers = dict(self._entries), dict(self._offers)
        return other

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self._offers

    def __iter__(self) -> Iterator[str]:
        return iter([*self._entries, *self._offers])

    def entry(self, name: str) -> Entry:
        """Return what is known of a plugin; ``LookupError`` if it is not registered."""
        offer = self._offers.pop(name, None)
        if offer is None:
            return self._entries[name]
        try:
            return self.register(offer.load(), name=name, origin=offer.origin)
        except BaseException:
            self._offers[name] = offer
            raise

    @property
    def enabled(self) -> list[Entry]:
        """The plugins that run in every profile that does not name them."""
        return [entry for entry in self._entries.values() if entry.is_enabled]

    def points(self, name: str) -> frozenset[Point]:
        return self.entry(name).points

    def args_type(self, name: str) -> type[Args]:
        """Return the type of the plugin's arguments; ``NoArgs`` if it takes none."""
        return self.entry(name).args

    def build(self, name: str, args: Args, handle: Handle) -> Plugin:
        """Build the plugin; a ``PluginError`` names it if its constructor raises."""
        if name not in self:
            raise PluginError(f"no plugin {name} is registered: build with the registry it is in")
        entry = self.entry(name)
        own = PluginHandle(handle, name)
        try:
            plugin = entry.build(args, cast("Handle", own))
            _check_built(plugin, entry)
        except FAULTS as fault:
            raise PluginError(f'initializing plugin "{name}": {text_of(fault)}') from fault
        if plugin.name != name:
            setattr(plugin, "name", name)  # noqa: B010  # one class under several names
        try:
            own.declare(plugin)
        except Exception:
            close([plugin], handle.profile_name)
            raise
        return plugin


def _check_built(plugin: object, entry: Entry) -> None:
    """Check that a factory returned a plugin with the extension points of its annotation."""
    if not isinstance(plugin, Plugin):
        raise TypeError(f"its factory returned {plugin!r}, not a plugin")
    missing = entry.points - points_of(type(plugin))
    if missing:
        lacks = ", ".join(sorted(point.value for point in missing))
        raise TypeError(f"its factory returned a {type(plugin).__name__} without {lacks}")


__all__ = ["IN_TREE", "Entry", "Factory", "NoArgs", "Registry"]
