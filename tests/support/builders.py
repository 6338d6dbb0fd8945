"""The builders that plugin authors have, under the name that our tests know; and one of our own."""

from podium.testing.builders import node, pairs, pod

__all__ = ["node", "pairs", "pod", "replicas"]


def replicas(**counts):
    """This many pods of app=web on each node."""
    return [
        pod(f"{name}-{number}", node=name, labels="app=web")
        for name, count in counts.items()
        for number in range(count)
    ]
