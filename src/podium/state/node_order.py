"""kube-scheduler's node order: one node of each zone in turn, zones in the order first seen."""

from __future__ import annotations

from podium.api.nodes import BETA_REGION, BETA_ZONE, REGION, ZONE
from podium.api.objects import Node

_REGIONS = (BETA_REGION, REGION)
_ZONES = (BETA_ZONE, ZONE)


class NodeOrder:
    """Node names by zone.

    ``names`` is computed again only when a node joins or leaves. A node whose zone label changes
    moves to its new zone at once, but the order shows that only then, as in kube-scheduler.
    """

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}
        self._names: list[str] | None = []

    def add(self, node: Node) -> None:
        self._insert(node.name, zone_of(node))
        self._names = None

    def update(self, node: Node) -> None:
        zone = zone_of(node)
        if zone != self._zone_of[node.name]:
            self._take_out(node.name)
            self._insert(node.name, zone)

    def remove(self, name: str) -> None:
        self._take_out(name)
        self._names = None

    def names(self) -> list[str]:
        if self._names is None:
            self._names = self._round_robin()
        return self._names

    def _insert(self, name: str, zone: str) -> None:
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone

    def _take_out(self, name: str) -> None:
        zone = self._zone_of.pop(name)
        del self._zones[zone][name]
        if not self._zones[zone]:
            del self._zones[zone]

    def _round_robin(self) -> list[str]:
        by_zone = [list(names) for names in self._zones.values()]
        longest = max(map(len, by_zone), default=0)
        return [names[turn] for turn in range(longest) for names in by_zone if turn < len(names)]


def zone_of(node: Node) -> str:
    """Return region and zone as one key; empty when the node has neither."""
    region, zone = (_first(node, keys) for keys in (_REGIONS, _ZONES))
    return f"{region}:\x00:{zone}" if region or zone else ""


def _first(node: Node, keys: tuple[str, ...]) -> str:
    return next((node.labels[key] for key in keys if key in node.labels), "")
