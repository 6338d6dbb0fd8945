"""Find the scheduler's configuration in a cluster: in a ConfigMap of kube-system."""

from __future__ import annotations

from typing import Final

import msgspec

from podium.api.codec import UNREADABLE
from podium.api.manifests import documents
from podium.client.http import Connection
from podium.errors import ApiError, PodiumError
from podium.snapshot.model import ASSUMED, FOUND, Json

KIND: Final = "KubeSchedulerConfiguration"
_PATH: Final = "/api/v1/namespaces/kube-system/configmaps"


class _ConfigMap(msgspec.Struct):
    metadata: dict[str, object]
    data: dict[str, str] | None = None


class _ConfigMaps(msgspec.Struct):
    items: list[_ConfigMap]


async def read_configuration(connection: Connection) -> tuple[Json | None, str]:
    """Return the configuration and a note about it; nothing else of a ConfigMap is kept."""
    try:
        maps = msgspec.json.decode(await connection.get(_PATH), type=_ConfigMaps).items
    except (ApiError, *UNREADABLE) as error:
        return None, f"{ASSUMED}: the ConfigMaps of kube-system cannot be read: {error}"
    found = {
        f"{each.metadata['name']}/{key}": configuration
        for each in maps
        for key, text in (each.data or {}).items()
        if (configuration := _configuration_in(text)) is not None
    }
    if len(found) == 1:
        ((name, configuration),) = found.items()
        return configuration, f"{FOUND} kube-system/{name}"
    if found:
        return None, f"{ASSUMED}: kube-system has several, {', '.join(found)}; choose by --config"
    return None, f"{ASSUMED}: kube-system has none; give another with --config"


def _configuration_in(text: str) -> Json | None:
    if KIND not in text:
        return None
    try:
        found = [each for each in documents(text) if isinstance(each, dict)]
    except PodiumError:
        return None
    return next((each for each in found if each.get("kind") == KIND), None)
