"""A plugin that raises, hangs or leaks when the script says so; it runs beside the default ones."""

from __future__ import annotations

from typing import Final

from podium import framework as fwk
from podium.api.objects import Pod
from podium.chaos.faults import Faults
from podium.chaos.simulated_time import HOST
from podium.clock import sleep
from podium.framework.registry import Registry

NAME: Final = "Chaos"
_LONGEST_HANG: Final = 40.0


class Chaos(fwk.ReservePlugin, fwk.PermitPlugin, fwk.PreBindPlugin, fwk.PostBindPlugin):
    """Succeeds at every point unless a fault strikes on the host that it runs on."""

    name = NAME
    faults = Faults()  # ``register`` replaces it with the faults of the trial

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._clock = handle.clock

    def _raise(self) -> None:
        if self.faults.strike("plugin-raise", HOST.get()):
            raise RuntimeError("a plugin of podium chaos raises")

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._raise()

    def unreserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        if self.faults.strike("plugin-leak", HOST.get()):
            raise RuntimeError("a plugin of podium chaos does not give back what it reserved")

    def permit(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._raise()

    async def pre_bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        if chance := self.faults.strike("plugin-hang", HOST.get()):
            await sleep(self._clock, chance.uniform(1, _LONGEST_HANG))
        if self.faults.strike("plugin-leak", HOST.get()):
            raise RuntimeError("a plugin of podium chaos fails after it has reserved")
        self._raise()

    async def post_bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._raise()


def register(registry: Registry, faults: Faults) -> None:
    """Add the plugin for one trial to a registry."""
    registry.register(type(NAME, (Chaos,), {"faults": faults}))
