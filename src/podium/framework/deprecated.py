"""Old names of the plugin API: each works for one more release and warns with its replacement.

docs/plugins/migrating.md lists them for people.
"""

from __future__ import annotations

import warnings
from typing import Any

from podium.framework.dependencies import Dependencies

# Names of ``podium.framework``: the old one, its replacement as an author writes it, the object.
_NAMES: dict[str, tuple[str, object]] = {
    "Reads": ("fwk.Dependencies", Dependencies),
    "reads": ("fwk.Dependencies", Dependencies),
}

# Methods that authors write: the old name and the new one.
METHODS = {"reads": "depends_on"}


def warn(old: str, new: str, depth: int) -> None:
    """Warn whoever called, so many calls above this one, that ``old`` is now called ``new``."""
    text = f"{old} is deprecated: use {new} (see docs/plugins/migrating.md)"
    warnings.warn(text, DeprecationWarning, stacklevel=depth + 1)


def look_up(name: str) -> Any:
    """Return the object that ``podium.framework`` used to have under this name."""
    if name not in _NAMES:
        raise AttributeError(f"module 'podium.framework' has no attribute {name!r}")
    new, found = _NAMES[name]
    warn(f"fwk.{name}", new, depth=3)
    return found


def rename_methods(plugin: type) -> None:
    """Let a plugin class that defines a method under its old name define it under the new one."""
    for old, new in METHODS.items():
        if old in vars(plugin) and new not in vars(plugin):
            warn(f"the method {plugin.__qualname__}.{old}", new, depth=3)
            setattr(plugin, new, vars(plugin)[old])
