"""The fixtures that plugin authors have, and one that makes hypothesis fail sooner."""

import pytest
from hypothesis import Phase, settings

from podium.testing.pytest_plugin import cluster, cluster_configuration, cluster_plugins

__all__ = ["cluster", "cluster_configuration", "cluster_plugins"]

settings.register_profile(
    "unshrunk", settings.get_profile("thorough"), phases=[Phase.generate], derandomize=True
)


@pytest.fixture
def unshrunk():
    """Report the first failure as it is found, not its simplest form; search the same each time."""
    chosen = settings.get_current_profile_name()
    settings.load_profile("unshrunk")
    yield
    settings.load_profile(chosen)
