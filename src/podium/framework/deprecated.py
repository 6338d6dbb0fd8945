"""Old names of the plugin API: each works for one more release and warns with its replacement.

docs/plugins/migrating.md lists them for people; a test compares it with the tables here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from podium.framework.dependencies import Dependencies
from podium.logs import get_logger
from podium.state.cluster_view import ClusterView
from podium.state.rows import NodeInfo, Rows

log = get_logger(__name__)

_logged: set[str] = set()

# Names of ``podium.framework``: the old one, its replacement as an author writes it, the object.
NAMES: dict[str, tuple[str, object]] = {
    "Reads": ("fwk.Dependencies", Dependencies),
    "reads": ("fwk.Dependencies", Dependencies),
}

# Kinds of events that authors register: the old name and the new one.
OLD_KINDS = {"UnschedulablePod": "TargetPod"}

# Methods that authors write: the old name and the new one.
WRITTEN = {"reads": "depends_on"}

# Methods that authors call: by class the old name, its replacement, and what it does.
CALLED: dict[type, dict[str, tuple[str, Callable[..., Any]]]] = {
    Rows: {
        "label": ("nodes.labels[key]", lambda nodes, key: nodes.labels[key]),
        "annotation": ("nodes.annotations[key]", lambda nodes, key: nodes.annotations[key]),
        "count": ("nodes.count_pods(query)", lambda nodes, query: nodes.count_pods(query)),
    },
    NodeInfo: {
        "count": ("node.count_pods(query)", lambda node, query: node.count_pods(query)),
    },
    ClusterView: {
        "rows": ("cluster.nodes()", lambda cluster: cluster.nodes()),
        "counts": ("cluster.pod_counts(query)", lambda cluster, query: cluster.pod_counts(query)),
    },
}


def warn(old: str, new: str, depth: int) -> None:
    """Warn whoever called, so many calls above this one, that ``old`` is now called ``new``."""
    text = f"{old} is deprecated: use {new} (see docs/plugins/migrating.md)"
    warnings.warn(text, DeprecationWarning, stacklevel=depth + 1)
    if old not in _logged:  # Python hides these warnings unless tests or flags ask for them
        _logged.add(old)
        log.warning(
            "deprecated name in a plugin", old=old, use=new, see="docs/plugins/migrating.md"
        )


def look_up(name: str) -> Any:
    """Return the object that ``podium.framework`` used to have under this name."""
    if name not in NAMES:
        raise AttributeError(f"module 'podium.framework' has no attribute {name!r}")
    new, found = NAMES[name]
    warn(f"fwk.{name}", new, depth=3)
    return found


def rename_methods(plugin: type) -> None:
    """Let a plugin class that defines a method under its old name define it under the new one."""
    for old, new in WRITTEN.items():
        if old in vars(plugin) and new not in vars(plugin):
            warn(f"the method {plugin.__qualname__}.{old}", new, depth=3)
            setattr(plugin, new, vars(plugin)[old])


def _old_method(old: str, new: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        warn(f"{type(self).__name__}.{old}()", new, depth=2)
        return call(self, *args)

    return method


for _owner, _methods in CALLED.items():
    for _old, (_new, _call) in _methods.items():
        setattr(_owner, _old, _old_method(_old, _new, _call))
