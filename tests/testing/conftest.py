"""The fixtures that plugin authors have, and one that makes hypothesis fail sooner."""

import pytest
from hypothesis import Phase, settings

from podium.testing.pytest_plugin import cluster, cluster_configuration, cluster_plugins

__all__ = ["cluster", "cluster_configuration", "cluster_plugins"]

settings.register_profile("unshrunk", phases=[Phase.generate], derandomize=True)


@pytest.fixture
def unshrunk():
    """A failure is enough: its simplest form is not looked for, and each run tries the same."""
    settings.load_profile("unshrunk")
    yield
    settings.load_profile("default")
