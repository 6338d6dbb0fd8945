"""The pytest fixture ``cluster``, for who asks for it in a test module or the top ``conftest.py``:

    pytest_plugins = ["podium.testing.pytest_plugin"]

It is not loaded by itself: ``cluster`` is a name that other projects have fixtures of.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from podium.testing.plain_cluster import Cluster, Written


@pytest.fixture
def cluster_plugins() -> list[Any]:
    """The plugins that ``cluster`` runs beside the default ones: override it, or parametrize."""
    return []


@pytest.fixture
def cluster_configuration() -> Written | None:
    """The configuration of ``cluster``, a dict or the path of a file: override it."""
    return None


@pytest.fixture
def cluster(cluster_plugins: list[Any], cluster_configuration: Written | None) -> Iterator[Cluster]:
    """A cluster with a scheduler in the test's process; time passes only in ``cluster.wait``."""
    with Cluster(plugins=cluster_plugins, configuration=cluster_configuration) as made:
        yield made
