"""The CustomResourceDefinitions of the kinds that plugins of scheduler-plugins read.

``deploy/components/scheduler-plugins`` has the same files, for clusters that podium does not start.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import resources
from typing import Any, Final

from podium.api.manifests import load_yaml

_FILES: Final[Mapping[str, str]] = {
    "Coscheduling": "pod-groups.yaml",
    "CapacityScheduling": "elastic-quotas.yaml",
}


def definitions(plugins: Collection[str]) -> list[dict[str, Any]]:
    """Return the definitions that these plugins need."""
    files = [resources.files(__package__) / _FILES[name] for name in _FILES if name in plugins]
    return [one for file in files for one in load_yaml(file.read_text())]
