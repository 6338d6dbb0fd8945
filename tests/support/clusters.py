"""Random small clusters for property tests: everything the rules look at, from few values.

Nodes and pods are those of ``podium.testing``, and storage with them.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from podium.api.nodes import HOSTNAME, ZONE
from podium.api.objects import LabelSelector, ObjectMeta, PodDisruptionBudget
from podium.api.workloads import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from podium.testing import builders, generated
from podium.testing.generated import IMAGES, NAMESPACES, NODE_NAMES, OWNER
from podium.testing.generated_terms import APPS
from tests.support.generated_storage import (
    bound_storage,
    open_claim_uses,
    open_storage,
    pod_volumes,
)

__all__ = ["HOSTNAME", "IMAGES", "NAMESPACES", "NODE_NAMES", "OWNER", "ZONE"]

AVOIDED = """{"preferAvoidPods": [
    {"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "rs-web"}}}]}"""
AVOIDS = {"scheduler.alpha.kubernetes.io/preferAvoidPods": AVOIDED}


@st.composite
def nodes(draw, name):
    return draw(generated.nodes(name, annotations=draw(st.sampled_from(({}, AVOIDS)))))


@st.composite
def pods(draw, name, *, on="", plain=False):
    """A pod; ``plain`` ones have neither spreading nor affinity to pods."""
    volumes = (
        draw(st.one_of(pod_volumes(), open_claim_uses())) if draw(st.integers(0, 3)) == 0 else ()
    )
    return draw(generated.pods(name, on=on, plain=plain, volumes=volumes))


@dataclass
class Cluster:
    """What exists: ``ghosts`` run on a node that is not there, ``nominated`` wait for one."""

    nodes: list = field(default_factory=list)
    pods: list = field(default_factory=list)
    ghosts: list = field(default_factory=list)
    nominated: list = field(default_factory=list)  # (pod, node name)
    others: list = field(default_factory=list)


@st.composite
def clusters(draw, *, plain=False):
    names = draw(st.lists(st.sampled_from(NODE_NAMES), min_size=1, unique=True))
    cluster = Cluster([draw(nodes(name)) for name in names])
    for number in range(draw(st.integers(0, 8))):
        on = draw(st.sampled_from(names))
        cluster.pods.append(draw(pods(f"p{number}", on=on, plain=plain)))
    for number in range(draw(st.integers(0, 1))):
        cluster.ghosts.append(draw(pods(f"g{number}", on="gone", plain=plain)))
    for number in range(draw(st.integers(0, 2))):
        waiting = draw(pods(f"w{number}", plain=plain))
        cluster.nominated.append((waiting, draw(st.sampled_from(names))))
    cluster.others = [
        builders.namespace(name, labels=labels)
        for name, labels in zip(NAMESPACES, ("team=blue", ""), strict=True)
    ]
    cluster.others += draw(bound_storage())
    if draw(st.integers(0, 2)) == 0:
        cluster.others += draw(open_storage())
    if draw(st.booleans()):
        cluster.others.append(service("web"))
    if draw(st.booleans()):
        cluster.others.append(budget(draw(st.sampled_from(APPS)), draw(st.integers(0, 1))))
    return cluster


def service(app):
    return builders.service(f"svc-{app}", selector={"app": app})


def budget(app, allowed):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=f"pdb-{app}", namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": app})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def feed(core, cluster):
    """Put all of it into a core's state and nominator."""
    from podium.framework import Nominate, PodInfo
    from podium.state.cluster import load

    load(core.cluster, [*cluster.others, *cluster.nodes, *cluster.pods, *cluster.ghosts])
    for waiting, name in cluster.nominated:
        core.nominator.add(PodInfo(waiting), Nominate(name))


def replicas(**counts):
    """This many pods with the label app=web on each node: ``replicas(a=2, b=1)``."""
    return [
        builders.pod(f"{name}-{number}", node=name, labels="app=web")
        for name, count in counts.items()
        for number in range(count)
    ]
