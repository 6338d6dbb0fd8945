"""Where a simulation differs from the running cluster that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podium.api.meta import ApiObject
from podium.simulation import Simulation

Key = tuple[str, str]  # the name of a kind, and namespace/name
Find = Callable[[str], ApiObject | None]
"""Returns the real object of this key; ``None`` if there is none."""


def differences(
    simulation: Simulation, kind: str, find: Find
) -> Iterator[tuple[Key, ApiObject | None]]:
    """Yield the real versions of the objects that simulated controllers have changed or added.

    In the running cluster the controllers are real, and what they do will be observed.
    """
    for key, simulated in simulation.objects(kind).items():
        real = find(key)
        if real is None or _version(real) != _version(simulated):
            yield (kind, key), real


def _version(obj: ApiObject) -> str:
    return obj.metadata.resource_version
