"""The Kubernetes scheduler as a Python program and library.

Your own program starts with ``podium.main(plugins=[…])`` or ``podium.Scheduler(…)``; a file for
``--plugin`` may decorate functions with ``@podium.filter`` and ``@podium.score``.
``podium.Simulation`` answers what the scheduler would do, without a cluster. Each of these names is
loaded on first use, so that commands that do not need it start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.app.scheduler import Scheduler
    from podium.cli.scheduler import main
    from podium.framework.decorators import filter, permit, post_bind, pre_bind, pre_enqueue, score
    from podium.simulation import Simulation

_PUBLIC = {
    "Scheduler": "podium.app.scheduler",
    "Simulation": "podium.simulation",
    "main": "podium.cli.scheduler",
    **dict.fromkeys(
        ("filter", "permit", "post_bind", "pre_bind", "pre_enqueue", "score"),
        "podium.framework.decorators",
    ),
}

__all__ = [
    "Scheduler",
    "Simulation",
    "filter",
    "main",
    "permit",
    "post_bind",
    "pre_bind",
    "pre_enqueue",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
