"""Random clusters and pods for the tests of PodTopologySpread."""

from hypothesis import strategies as st

from tests.support.builders import node, pod

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"

some_selectors = st.sampled_from(
    [
        None,
        {},
        *[{"matchLabels": {"app": "web"}}] * 4,
        {"matchLabels": {"app": "web", "version": "v1"}},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]},
        {"matchExpressions": [{"key": "version", "operator": "Exists"}]},
    ]
)
some_policies = st.sampled_from(["", "", "Honor", "Ignore"])


@st.composite
def some_labels(draw):
    wanted = {"app": ("web", "web", "web", "db"), "version": ("v1", "v2")}
    return given({key: draw(st.sampled_from([*values, None])) for key, values in wanted.items()})


@st.composite
def some_nodes(draw):
    """One node to seven; some lack a label, and a blank value is a value."""
    nodes = []
    for index in range(draw(st.integers(1, 7))):
        name = f"n{index}"
        labels = {
            ZONE: draw(st.sampled_from(["a", "a", "b", "b", "c", "", None])),
            "rack": draw(st.sampled_from(["r1", "r1", "r2", "r2", "r3", None])),
            "disk": draw(st.sampled_from(["ssd", "ssd", None])),
            HOSTNAME: draw(st.sampled_from([name, name, name, None])),
        }
        taints = draw(st.sampled_from(["", "", "", "gpu:NoSchedule", "soft:PreferNoSchedule"]))
        nodes.append(node(name, labels=given(labels), taints=taints))
    return nodes


@st.composite
def some_pods(draw, nodes, prefix="p"):
    """Placed pods; some on a node that does not exist, some on their way out."""
    names = [each.name for each in nodes] * 2 + ["gone"]
    return [
        pod(
            f"{prefix}{index}",
            labels=draw(some_labels()),
            namespace=draw(st.sampled_from(["default", "default", "default", "other"])),
            node=draw(st.sampled_from(names)),
            deletion_timestamp=draw(st.sampled_from(["", "", "", "2026-01-01T00:00:00Z"])),
        )
        for index in range(draw(st.integers(0, 14)))
    ]


@st.composite
def some_constraint(draw, action, selectors=some_selectors):
    return {
        "topologyKey": draw(st.sampled_from([ZONE, "rack", HOSTNAME])),
        # No API server lets 0 through for a hard one, but it shows whose minimum is used.
        "maxSkew": draw(st.integers(0 if action == HARD else 1, 3)),
        "whenUnsatisfiable": action,
        "labelSelector": draw(selectors),
        "minDomains": draw(st.sampled_from([None, None, 1, 2, 3])) if action == HARD else None,
        "nodeAffinityPolicy": draw(some_policies),
        "nodeTaintsPolicy": draw(some_policies),
        "matchLabelKeys": draw(st.sampled_from([(), (), (), ("version",), ("absent",)])),
    }


@st.composite
def some_incoming(draw, *actions, selectors=some_selectors):
    """A pod with constraints of these kinds, one to three of each."""
    constraints = []
    for action in actions:
        constraints += draw(st.lists(some_constraint(action, selectors), min_size=1, max_size=3))
    return pod(
        "incoming",
        labels=draw(some_labels()),
        tolerates=draw(st.sampled_from(["", "gpu:"])),
        node_selector=draw(st.sampled_from(["", "", "disk=ssd"])),
        topology_spread_constraints=constraints,
    )


def given(values):
    return {key: value for key, value in values.items() if value is not None}
