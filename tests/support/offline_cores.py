"""Cores with the default configuration, filled with objects: for tests without a queue."""

from podium import app, config
from podium.api.meta import ApiObject
from podium.app import OfflineCore
from podium.state.cluster import load


def core_with(*objects: ApiObject) -> OfflineCore:
    registry = app.in_tree()
    core = app.build(config.default(registry), registry=registry)
    load(core.cluster, objects)
    return core
