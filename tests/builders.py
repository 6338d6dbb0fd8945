"""The builders that plugin authors have; here under the name that our tests know."""

from podium.testing.builders import node, pairs, pod

__all__ = ["node", "pairs", "pod"]
