"""The cluster as plain dicts: slow, and obviously right."""

from dataclasses import dataclass, field

from podium.api import resources
from podium.api.objects import Namespace, Node, Pod, Service
from podium.state.aspects import Aspect
from podium.state.pod_info import PodInfo


@dataclass
class Placed:
    """A pod, the name of the node it counts on, and whether that is only assumed."""

    pod: Pod
    on: str
    is_assumed: bool = False

    @property
    def requests(self) -> dict[str, int]:
        return resources.amounts(resources.pod_requests(self.pod, resources.HELD_IN_SUM))


@dataclass
class Model:
    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[str, Placed] = field(default_factory=dict)  # by uid
    namespaces: dict[str, Namespace] = field(default_factory=dict)
    services: dict[str, Service] = field(default_factory=dict)  # by key

    def on(self, name: str) -> list[Placed]:
        return [placed for placed in self.pods.values() if placed.on == name]

    def requested(self, name: str, resource: str) -> int:
        if resource == "pods":
            return len(self.on(name))
        return sum(placed.requests.get(resource, 0) for placed in self.on(name))

    def free(self, name: str, resource: str) -> int:
        offered = resources.allocatable(self.nodes[name]).get(resource, 0)
        return offered - self.requested(name, resource)

    def below(self, name: str, resource: str, priority: int) -> int:
        lower = [placed for placed in self.on(name) if placed.pod.priority < priority]
        return sum(placed.requests.get(resource, 0) for placed in lower)

    def count(self, name: str, query) -> int:
        return sum(
            query.matches(placed.pod.namespace, placed.pod.labels, placed.pod.is_terminating)
            for placed in self.on(name)
        )

    def facts(self, name: str) -> dict[int, object]:
        """What each aspect of one node says."""
        node, placed = self.nodes[name], self.on(name)
        infos = [PodInfo(one.pod) for one in placed]
        requested = sorted(sorted(info.requests.items()) for info in infos)
        return {
            Aspect.RESOURCES: (resources.allocatable(node), requested),
            Aspect.LABELS: dict(node.labels),
            Aspect.TAINTS: (node.spec.taints, node.spec.unschedulable),
            Aspect.PODS: sorted(
                (p.pod.uid, sorted(p.pod.labels.items()), p.pod.is_terminating) for p in placed
            ),
            Aspect.AFFINITY: sorted(repr(info.terms) for info in infos if info.has_affinity),
            Aspect.PORTS: sorted(port for info in infos for port in info.ports),
            Aspect.IMAGES: node.status.images,
            Aspect.FEATURES: node.status.declared_features,
        }
