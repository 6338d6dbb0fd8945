"""For tests of plugins and configurations: a whole cluster in the test's process, on fake time."""

from podium.testing.cluster import SimulatedCluster

__all__ = ["SimulatedCluster"]
