"""The Kubernetes scheduler as a Python program and library.

A program of one's own starts with ``podium.main(plugins=[…])`` or ``podium.Scheduler(…)``; a file
for ``--plugin`` may decorate functions with ``@podium.filter`` and ``@podium.score``. These names
are loaded when they are first used: commands that need none of them start the faster.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.app.scheduler import Scheduler
    from podium.cli.scheduler import main
    from podium.framework.decorators import filter, permit, post_bind, pre_bind, pre_enqueue, score

_PUBLIC = {
    "Scheduler": "podium.app.scheduler",
    "main": "podium.cli.scheduler",
    **dict.fromkeys(
        ("filter", "permit", "post_bind", "pre_bind", "pre_enqueue", "score"),
        "podium.framework.decorators",
    ),
}

__all__ = [
    "Scheduler",
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
