"""Plugins of kubernetes-sigs/scheduler-plugins: podium has them, and no default profile runs them.

A configuration enables them by name, as it does with scheduler-plugins. They are imported only when
a configuration names one. ``podium.status_controllers`` keeps the status of their objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from podium.framework.plugin import Plugin

COSCHEDULING: Final = "Coscheduling"
CAPACITY_SCHEDULING: Final = "CapacityScheduling"


def _coscheduling() -> type[Plugin]:
    from podium.scheduler_plugins.coscheduling import Coscheduling

    return Coscheduling


def _capacity_scheduling() -> type[Plugin]:
    from podium.scheduler_plugins.capacity_scheduling import CapacityScheduling

    return CapacityScheduling


OFFERED: Final[Mapping[str, Callable[[], type[Plugin]]]] = {
    COSCHEDULING: _coscheduling,
    CAPACITY_SCHEDULING: _capacity_scheduling,
}
