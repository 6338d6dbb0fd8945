"""Random small clusters in which most pods fit most nodes, so that scores decide.

In ``tests.support.clusters`` most pods are refused, so few attempts are ever scored.
"""

from hypothesis import strategies as st

from podium.api.objects import LabelSelector, ObjectMeta, ReplicaSet
from podium.api.workloads import WorkloadSpec
from podium.testing.builders import node, pod
from tests.support.clusters import (
    AVOIDS,
    HOSTNAME,
    IMAGES,
    NODE_NAMES,
    OWNER,
    ZONE,
    Cluster,
    service,
)

APP = {"matchLabels": {"app": "web"}}


@st.composite
def nodes(draw, name):
    labels = {HOSTNAME: name}
    if draw(st.integers(0, 4)):
        labels[ZONE] = draw(st.sampled_from(("z1", "z2")))
    if draw(st.booleans()):
        labels["disk"] = draw(st.sampled_from(("ssd", "hdd")))
    return node(
        name,
        cpu=draw(st.sampled_from(("4", "8"))),
        memory=draw(st.sampled_from(("8Gi", "16Gi"))),
        labels=labels,
        taints=draw(st.sampled_from(("", "", "spot:PreferNoSchedule"))),
        images=draw(st.sampled_from(IMAGES)),
        annotations=draw(st.sampled_from(({}, AVOIDS))),
    )


@st.composite
def wishes(draw):
    """What a pod would like: preferences of every kind, and no demands."""
    spec = {}
    if draw(st.integers(0, 3)) == 0:
        key = draw(st.sampled_from((ZONE, HOSTNAME)))
        soft = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"}
        spec["topology_spread_constraints"] = [{**soft, "labelSelector": APP}]
    if draw(st.integers(0, 2)) == 0:
        side = draw(st.sampled_from(("podAffinity", "podAntiAffinity")))
        term = {"weight": 10, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": APP}}
        spec["affinity"] = {side: {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    if draw(st.integers(0, 2)) == 0:
        wish = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        terms = [{"weight": 5, "preference": wish}]
        node_wishes = {"preferredDuringSchedulingIgnoredDuringExecution": terms}
        spec["affinity"] = {**spec.get("affinity", {}), "nodeAffinity": node_wishes}
    return spec


@st.composite
def pods(draw, name, *, on=""):
    return pod(
        name,
        labels=draw(
            st.sampled_from(({}, {"app": "web"}, {"app": "db"}, {"app": "web", "x": name}))
        ),
        node=on,
        cpu=draw(st.sampled_from((None, "100m", "700m"))),
        memory=draw(st.sampled_from((None, "512Mi"))),
        image=draw(st.sampled_from(("", "web:1", "big"))),
        owner_references=draw(st.sampled_from(((), (OWNER,)))),
        tolerates=draw(st.sampled_from(("", "spot:"))),
        **draw(wishes()),
    )


@st.composite
def clusters(draw):
    names = draw(st.lists(st.sampled_from(NODE_NAMES), min_size=2, unique=True))
    cluster = Cluster([draw(nodes(name)) for name in names])
    for number in range(draw(st.integers(0, 4))):
        cluster.pods.append(draw(pods(f"p{number}", on=draw(st.sampled_from(names)))))
    if draw(st.booleans()):
        cluster.others.append(service("web"))
    if draw(st.booleans()):
        cluster.others.append(replica_set())
    return cluster


def replica_set():
    """What ``OWNER`` refers to."""
    spec = WorkloadSpec(selector=LabelSelector(match_labels={"app": "web"}))
    return ReplicaSet(metadata=ObjectMeta(name="web", namespace="default"), spec=spec)
