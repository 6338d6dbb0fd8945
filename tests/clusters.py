"""Random small clusters for property tests: everything the rules look at, from few values.

Few values make pods and nodes meet: the same zones, apps and priorities come up again and again.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from podium.api.objects import (
    LabelSelector,
    Namespace,
    ObjectMeta,
    OwnerReference,
    PodDisruptionBudget,
    Service,
)
from podium.api.workloads import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus, ServiceSpec
from tests.builders import node, pod
from tests.claims import claim_uses, storage_objects
from tests.storage import pod_volumes, storage

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
APPS = ("web", "db")
NAMESPACES = ("default", "other")
NODE_NAMES = ("a", "b", "c", "d", "e")
TAINTS = ("gpu=yes:NoSchedule", "spot:PreferNoSchedule", "down:NoExecute")
TOLERATES = ("gpu=yes:NoSchedule", "spot:", "down:NoExecute", ":")
IMAGES = ({}, {"web:1": 600 << 20}, {"web:1": 500 << 20, "big:latest": 3 << 30})
OWNER = OwnerReference("apps/v1", "ReplicaSet", "web", "rs-web", True)
AVOIDED = """{"preferAvoidPods": [
    {"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "rs-web"}}}]}"""
AVOIDS = {"scheduler.alpha.kubernetes.io/preferAvoidPods": AVOIDED}
FEATURES = ("Other", "RestartAllContainersOnContainerExits")
RESTART_ALL = [{"action": "RestartAllContainers"}]
TIMES = tuple(f"2026-01-01T00:00:0{second}Z" for second in range(4))


def some(words, most=2):
    return st.lists(st.sampled_from(words), max_size=most, unique=True).map(" ".join)


@st.composite
def nodes(draw, name):
    labels = {HOST: name}
    if draw(st.integers(0, 4)):
        labels[ZONE] = draw(st.sampled_from(("z1", "z2")))
    if draw(st.booleans()):
        labels["disk"] = draw(st.sampled_from(("ssd", "hdd")))
    return node(
        name,
        cpu=draw(st.sampled_from(("1", "2", "4"))),
        memory=draw(st.sampled_from(("1Gi", "4Gi"))),
        pods=draw(st.sampled_from((2, 5, 110))),
        allocatable=draw(st.sampled_from(({}, {"example.com/gpu": 2}))),
        labels=labels,
        taints=draw(some(TAINTS)),
        images=draw(st.sampled_from(IMAGES)),
        annotations=draw(st.sampled_from(({}, AVOIDS))),
        unschedulable=draw(st.integers(0, 5)) == 0,
        declared_features=draw(some(FEATURES)).split(),
    )


def selectors():
    app = st.sampled_from(APPS)
    return st.one_of(
        app.map(lambda value: {"matchLabels": {"app": value}}),
        app.map(
            lambda value: {
                "matchExpressions": [{"key": "app", "operator": "NotIn", "values": [value]}]
            }
        ),
        st.just({}),
        st.none(),
    )


@st.composite
def spread_constraints(draw):
    constraint = {
        "maxSkew": draw(st.integers(1, 2)),
        "topologyKey": draw(st.sampled_from((ZONE, HOST))),
        "whenUnsatisfiable": draw(st.sampled_from(("DoNotSchedule", "ScheduleAnyway"))),
        "labelSelector": draw(selectors()),
        "minDomains": draw(st.sampled_from((None, 2))),
        "nodeAffinityPolicy": draw(st.sampled_from((None, "Ignore"))),
        "nodeTaintsPolicy": draw(st.sampled_from((None, "Honor"))),
    }
    return {name: value for name, value in constraint.items() if value is not None}


@st.composite
def terms(draw):
    return {
        "topologyKey": draw(st.sampled_from((ZONE, HOST, "disk"))),
        "labelSelector": draw(selectors()),
        "namespaces": draw(st.sampled_from(([], ["default"], ["other"]))),
        "namespaceSelector": draw(
            st.sampled_from((None, None, {}, {"matchLabels": {"team": "blue"}}))
        ),
    }


def _weighted(term):
    return st.integers(1, 100).map(lambda weight: {"weight": weight, "podAffinityTerm": term})


@st.composite
def affinities(draw):
    """Any mix of required and preferred terms, for and against."""
    kinds = ("required", "preferred")
    names = {kind: f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in kinds}
    affinity = {}
    for side in ("podAffinity", "podAntiAffinity"):
        if draw(st.integers(0, 2)) == 0:
            continue
        affinity[side] = {
            names["required"]: draw(st.lists(terms(), max_size=1)),
            names["preferred"]: draw(st.lists(terms().flatmap(_weighted), max_size=1)),
        }
    return affinity


def _node_term(requirements, fields=()):
    parse = ("key", "operator", "values")
    return {
        kind: [dict(zip(parse, requirement, strict=True)) for requirement in given]
        for kind, given in (("matchExpressions", requirements), ("matchFields", fields))
    }


NODE_TERMS = (
    _node_term([("disk", "In", ["ssd"])]),
    _node_term([(ZONE, "NotIn", ["z1"]), ("disk", "Exists", [])]),
    _node_term([], [("metadata.name", "In", ["a"])]),
    _node_term([], [("metadata.name", "In", ["a"]), ("metadata.name", "In", ["b"])]),
    _node_term([]),
    _node_term([("disk", "Like", ["ssd"])]),  # nobody can read it
)


@st.composite
def node_affinities(draw):
    """Up to two required terms and a preferred one that can be read."""
    some_terms = st.lists(st.sampled_from(NODE_TERMS), max_size=2)
    required = {"nodeSelectorTerms": draw(some_terms)} if draw(st.booleans()) else None
    preferred = [{"weight": 3, "preference": draw(st.sampled_from(NODE_TERMS[:3]))}]
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": required,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred * draw(st.integers(0, 1)),
    }


@st.composite
def pods(draw, name, *, on=None, plain=False):
    """A pod; ``plain`` ones have neither spreading nor affinity to pods."""
    spec = {}
    if not plain and draw(st.integers(0, 2)) == 0:
        spec["topology_spread_constraints"] = draw(st.lists(spread_constraints(), max_size=2))
    if not plain and draw(st.integers(0, 2)) == 0:
        spec["affinity"] = draw(affinities())
    if draw(st.integers(0, 3)) == 0:
        spec["node_selector"] = {"disk": "ssd"}
    if draw(st.integers(0, 3)) == 0:
        spec["affinity"] = {**spec.get("affinity", {}), "nodeAffinity": draw(node_affinities())}
    if draw(st.integers(0, 5)) == 0:
        spec["init_containers"] = [{"restartPolicyRules": RESTART_ALL}]
    if draw(st.integers(0, 3)) == 0:
        spec["volumes"] = draw(st.one_of(pod_volumes(), claim_uses()))
    return pod(
        name,
        namespace=draw(st.sampled_from(NAMESPACES)),
        labels=draw(
            st.sampled_from(({}, {"app": "web"}, {"app": "db"}, {"app": "web", "x": name}))
        ),
        node=on or draw(st.sampled_from(("",) * 7 + NODE_NAMES[:1])),
        cpu=draw(st.sampled_from((None, "500m", "1", "2"))),
        memory=draw(st.sampled_from((None, "512Mi"))),
        requests=draw(st.sampled_from(({}, {}, {"example.com/gpu": 1}))),
        image=draw(st.sampled_from(("", "web:1", "big"))),
        owner_references=draw(st.sampled_from(((), (OWNER,)))),
        host_ports=draw(st.sampled_from(((), (), (80,), (80, 443)))),
        tolerates=draw(some(TOLERATES)),
        priority=draw(st.sampled_from((0, 5, 10))),
        deletion_timestamp=TIMES[0] if on and draw(st.integers(0, 5)) == 0 else "",
        status={"start_time": draw(st.sampled_from(TIMES))} if on else {},
        **spec,
    )


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
        Namespace(metadata=ObjectMeta(name=name, labels=labels))
        for name, labels in zip(NAMESPACES, ({"team": "blue"}, {}), strict=True)
    ]
    cluster.others += draw(storage())
    if draw(st.integers(0, 2)) == 0:
        cluster.others += draw(storage_objects())
    if draw(st.booleans()):
        cluster.others.append(service("web"))
    if draw(st.booleans()):
        cluster.others.append(budget(draw(st.sampled_from(APPS)), draw(st.integers(0, 1))))
    return cluster


def service(app):
    return Service(
        metadata=ObjectMeta(name=f"svc-{app}", namespace="default"),
        spec=ServiceSpec(selector={"app": app}),
    )


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
