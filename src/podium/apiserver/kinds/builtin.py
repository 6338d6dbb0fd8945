"""The table of built-in kinds, in the order in which discovery lists their groups."""

from __future__ import annotations

from podium.apiserver.kinds import (
    apiextensions,
    apps,
    autoscaling,
    batch,
    coordination,
    core,
    discovery,
    networking,
    node,
    policy,
    rbac,
    resource,
    reviews,
    scheduling,
    storage,
)
from podium.apiserver.kinds.api_kind import KindTable
from podium.apiserver.kinds.core.events import NEWER_EVENT
from podium.apiserver.kinds.groups import group_kinds
from podium.release import LATEST, Release


def builtin_kinds(release: Release = LATEST, features: frozenset[str] = frozenset()) -> KindTable:
    """Return a fresh table: definitions of one server do not show up in another.

    ``features`` are the feature gates that were turned on.
    """
    kinds = (*_ALL, *group_kinds(features))
    served = (kind.in_release(release) for kind in kinds if kind.since <= release)
    return KindTable((kind.with_features(features) for kind in served), release)


_ALL = (
    *core.KINDS,
    *apps.KINDS,
    *batch.KINDS,
    *policy.KINDS,
    autoscaling.SCALER,
    *storage.KINDS,
    *node.KINDS,
    *scheduling.KINDS,
    *coordination.KINDS,
    *rbac.KINDS,
    *networking.KINDS,
    *discovery.KINDS,
    *resource.KINDS,
    *apiextensions.KINDS,
    NEWER_EVENT,
    autoscaling.OLDER_SCALER,
    *reviews.KINDS,
)
