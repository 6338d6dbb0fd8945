"""docs/configuration.md names every version, predicate, priority and dropped plugin."""

from pathlib import Path

import pytest

from podium.config import upstream
from podium.config.versions import VERSIONS
from podium.config.versions.policy.predicates import PREDICATES
from podium.config.versions.policy.priorities import PRIORITIES

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
# They run for names of the user's own, with an argument.
WITHOUT_A_NAME = {
    *("CheckNodeLabelPresence", "CheckServiceAffinity"),
    *("RequestedToCapacityRatio", "NodeLabel", "ServiceAffinity"),
}
ACTIONS = ("validate", "show", "convert", "diff")


@pytest.mark.parametrize("name", sorted({*PREDICATES, *PRIORITIES} - WITHOUT_A_NAME))
def test_policies(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", sorted(upstream.LEGACY_POINTS))
def test_dropped_plugins(name):
    assert f"`{name}`" in PAGE.partition("## Converting to v1")[2]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_versions(version):
    assert f"/{version.name}`" in PAGE
    assert version.last_release in PAGE


@pytest.mark.parametrize("action", ACTIONS)
def test_commands(action):
    assert f"`podium config {action} " in PAGE
