"""The core group, v1, in the order in which discovery lists its kinds."""

from __future__ import annotations

from podium.apiserver.kinds.core.controllers import POD_TEMPLATE, REPLICATION_CONTROLLER
from podium.apiserver.kinds.core.events import EVENT
from podium.apiserver.kinds.core.nodes import NAMESPACE, NODE
from podium.apiserver.kinds.core.pods import POD
from podium.apiserver.kinds.core.services import ENDPOINTS, SERVICE
from podium.apiserver.kinds.core.settings import (
    CONFIG_MAP,
    LIMIT_RANGE,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE_ACCOUNT,
)
from podium.apiserver.kinds.core.volumes import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM

KINDS = (
    NAMESPACE,
    NODE,
    POD,
    SERVICE,
    ENDPOINTS,
    CONFIG_MAP,
    SECRET,
    SERVICE_ACCOUNT,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    EVENT,
    REPLICATION_CONTROLLER,
    LIMIT_RANGE,
    RESOURCE_QUOTA,
    POD_TEMPLATE,
)
