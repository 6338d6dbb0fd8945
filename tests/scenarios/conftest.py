"""The fixtures that plugin authors have."""

from podium.testing.pytest_plugin import cluster, cluster_configuration, cluster_plugins

__all__ = ["cluster", "cluster_configuration", "cluster_plugins"]
