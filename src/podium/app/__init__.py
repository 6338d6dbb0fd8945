"""The composition root: builds the parts from a configuration and hands them to each other.

``app.live`` is not imported here: commands without a cluster need no HTTP client.
"""

from podium.app.core import Core, OfflineCore, build
from podium.app.own_plugins import in_tree, in_tree_with_legacy

__all__ = ["Core", "OfflineCore", "build", "in_tree", "in_tree_with_legacy"]
