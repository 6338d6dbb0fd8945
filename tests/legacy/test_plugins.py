"""The plugins that only older configurations name: known, and yet not to v1."""

import pytest

from podium import app, config
from podium.app.own_plugins import OFFERED
from podium.config import upstream
from podium.errors import ConfigError
from podium.legacy.plugins import LEGACY
from podium.plugins import IN_TREE
from tests.support.configurations import with_legacy

NAMES = [plugin.name for plugin in LEGACY]


def naming(name):
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": name}]}}}
    return {"apiVersion": upstream.API_VERSION, "kind": upstream.KIND, "profiles": [profile]}


@pytest.mark.parametrize("name", NAMES)
def test_in_v1_they_do_not_exist(name):
    with pytest.raises(ConfigError, match=f'"{name}" does not exist'):
        config.from_value(naming(name), app.in_tree())


def test_one_registry_holds_them_all():
    gated = {"GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"}  # gates off
    ours = {plugin.name for plugin in IN_TREE} - gated | OFFERED.keys()
    assert set(app.in_tree()) == ours
    assert set(app.in_tree_with_legacy()) == ours | {plugin.name for plugin in LEGACY}


def test_no_default_profile_names_them():
    default = config.default(app.in_tree_with_legacy())
    [profile] = default.profiles

    assert not set(NAMES) & {name for names in profile.plugins.values() for name in names}


def test_a_profile_with_them_can_be_built():
    core = app.build(with_legacy())
    built = {
        plugin.name
        for plugins in core.profiles["default-scheduler"].plugins.values()
        for plugin in plugins
    }

    assert set(NAMES) <= built
