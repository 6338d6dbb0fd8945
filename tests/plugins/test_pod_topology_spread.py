"""PodTopologySpread told by cases: which nodes it rejects, and how it ranks the others."""

import math

import pytest

from podium import framework as fwk
from podium.api.objects import ObjectMeta, Service, ServiceSpec
from podium.errors import InvalidSelector, StateNotFound
from podium.plugins.pod_topology_spread import IgnoringMatchLabelKeys, PodTopologySpread
from podium.plugins.pod_topology_spread.soft import SoftCounts
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WEB = {"matchLabels": {"app": "web"}}
REASON = "node(s) didn't match pod topology spread constraints"
SKEWED = fwk.Status.unschedulable(REASON)
KEYLESS = fwk.Status.unresolvable(f"{REASON} (missing required label)")
SERVICE = Service(ObjectMeta(name="web", namespace="default"), ServiceSpec({"app": "web"}))

# Names, labels, and how many pods of the workload run there.
THREE_ZONES = {"a": ("zone=a", 2), "b": ("zone=b", 1), "c": ("zone=c", 0)}
ONE_KEYLESS = {"a": ("zone=a rack=1", 2), "b": ("zone=b", 0), "c": ("zone=c rack=2", 1)}
WITH_DISKS = {"a": ("zone=a disk=ssd", 1), "b": ("zone=b disk=ssd", 1), "c": ("zone=c", 0)}


def hard(key="zone", skew=1, selector=WEB, **rest):
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        **rest,
    }


def soft(key="zone", skew=1, **rest):
    return hard(key, skew, **rest, whenUnsatisfiable="ScheduleAnyway")


def web(*constraints, labels="app=web version=v1", **rest):
    return pod("incoming", labels=labels, topology_spread_constraints=list(constraints), **rest)


def cluster(nodes, *more, taints=None, **of_pods):
    """A handle on nodes as above, with their pods; ``of_pods`` is said of every such pod."""
    taints = taints or {}
    objects = [
        node(name, labels=labels, taints=taints.get(name, ""))
        for name, (labels, _) in nodes.items()
    ]
    for name, (_, count) in nodes.items():
        described = {"labels": "app=web version=v1", **of_pods}
        objects += [pod(f"{name}-{i}", node=name, **described) for i in range(count)]
    return FakeHandle(*objects, *more)


def plugin_on(handle, kind=PodTopologySpread, **args):
    return kind(PodTopologySpread.Args(**args), handle)


def rejected(handle, subject, kind=PodTopologySpread):
    """The nodes that are rejected, with their statuses."""
    plugin, state = plugin_on(handle, kind), fwk.CycleState()
    assert plugin.pre_filter(state, subject, handle.rows) is None
    statuses = plugin.filter_all(state, subject, handle.rows)
    return {n: s for n, s in zip(handle.rows.names, statuses, strict=True) if not s.ok}


def skewed(*names):
    return dict.fromkeys(names, SKEWED)


# --- Filter --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "subject", "expected"),
    [
        pytest.param(THREE_ZONES, web(hard()), skewed("a", "b"), id="only-the-emptiest-zone"),
        pytest.param(THREE_ZONES, web(hard(skew=2)), skewed("a"), id="two-may-be-ahead"),
        pytest.param(
            THREE_ZONES, web(hard(), labels="app=db"), skewed("a"), id="does-not-count-itself"
        ),
        pytest.param(THREE_ZONES, web(hard(selector={})), {}, id="empty-selector-counts-nobody"),
        pytest.param(THREE_ZONES, web(hard(selector=None)), {}, id="no-selector-matches-nobody"),
        pytest.param(THREE_ZONES, web(hard(), namespace="other"), {}, id="own-namespace-only"),
        pytest.param(THREE_ZONES, web(hard("rack")), dict.fromkeys("abc", KEYLESS), id="no-node"),
        pytest.param(
            ONE_KEYLESS, web(hard(), hard("rack")), {**skewed("a"), "b": KEYLESS}, id="one-keyless"
        ),
        pytest.param(
            {"a": ("zone=a", 2), "b": ("zone=b rack=1", 0)},
            web(hard(selector=WEB), hard("rack")),
            {"a": KEYLESS},
            id="a-keyless-node-counts-for-no-constraint",
        ),
        pytest.param(
            {"a": ("zone=a", 0), "b": ("zone=b rack=1", 2), "c": ("zone=c rack=2", 0)},
            web(hard(), hard("rack")),
            {"a": KEYLESS, "b": SKEWED},
            id="the-first-constraint-that-fails-speaks",
        ),
        pytest.param(
            {"a": ("zone=", 1), "b": ("zone=b", 0)}, web(hard()), skewed("a"), id="blank-is-a-value"
        ),
        pytest.param(
            {"a1": ("zone=a", 1), "a2": ("zone=a", 1), "b": ("zone=b", 1)},
            web(hard()),
            skewed("a1", "a2"),
            id="a-zone-is-the-sum-of-its-nodes",
        ),
    ],
)
def test_rejected_nodes(nodes, subject, expected):
    assert rejected(cluster(nodes), subject) == expected


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        pytest.param(None, [], id="none-means-one"),
        pytest.param(2, [], id="just-enough"),
        pytest.param(3, ["a", "b"], id="too-few-make-the-minimum-zero"),
    ],
)
def test_min_domains(domains, expected):
    nodes = {"a": ("zone=a", 2), "b": ("zone=b", 2)}

    assert rejected(cluster(nodes), web(hard(minDomains=domains))) == skewed(*expected)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("", [], id="honored-by-default"),
        pytest.param("Honor", [], id="honored"),
        pytest.param("Ignore", ["a", "b"], id="ignored"),
    ],
)
def test_node_affinity_decides_where_pods_count(policy, expected):
    subject = web(hard(nodeAffinityPolicy=policy), node_selector="disk=ssd")

    assert rejected(cluster(WITH_DISKS), subject) == skewed(*expected)


@pytest.mark.parametrize(
    ("policy", "tolerates", "expected"),
    [
        pytest.param("", "", ["a", "b"], id="ignored-by-default"),
        pytest.param("Ignore", "", ["a", "b"], id="ignored"),
        pytest.param("Honor", "", [], id="honored"),
        pytest.param("Honor", "gpu:", ["a", "b"], id="tolerated"),
    ],
)
def test_taints_decide_where_pods_count(policy, tolerates, expected):
    handle = cluster(WITH_DISKS, taints={"c": "gpu:NoSchedule"})
    subject = web(hard(nodeTaintsPolicy=policy), tolerates=tolerates)

    assert rejected(handle, subject) == skewed(*expected)


def test_an_excluded_node_is_judged_by_its_zone():
    nodes = {"a": ("zone=a disk=ssd", 1), "b": ("zone=b disk=ssd", 0), "c": ("zone=a", 3)}

    assert rejected(cluster(nodes), web(hard(), node_selector="disk=ssd")) == skewed("a", "c")


@pytest.mark.parametrize(
    ("keys", "labels", "expected"),
    [
        pytest.param((), "app=web version=v2", ["a", "b"], id="all-versions"),
        pytest.param(("version",), "app=web version=v2", [], id="its-own-version-only"),
        pytest.param(("version",), "app=web version=v1", ["a", "b"], id="the-placed-version"),
        pytest.param(("absent",), "app=web version=v2", ["a", "b"], id="a-key-it-has-not"),
    ],
)
def test_match_label_keys(keys, labels, expected):
    subject = web(hard(matchLabelKeys=keys), labels=labels)

    assert rejected(cluster(THREE_ZONES), subject) == skewed(*expected)


def test_match_label_keys_without_their_feature():
    subject = web(hard(matchLabelKeys=("version",)), labels="app=web version=v2")

    assert rejected(cluster(THREE_ZONES), subject) == {}
    assert rejected(cluster(THREE_ZONES), subject, IgnoringMatchLabelKeys) == skewed("a", "b")


def test_match_label_keys_do_not_revive_a_missing_selector():
    subject = web(hard(selector=None, matchLabelKeys=("app",)))

    assert rejected(cluster(THREE_ZONES), subject) == {}


def test_pods_that_do_not_count():
    ending = {"deletion_timestamp": "2026-01-01T00:00:00Z"}
    lost = pod("lost", node="nowhere", labels="app=web")

    assert rejected(cluster(THREE_ZONES, **ending), web(hard())) == {}
    assert rejected(cluster(THREE_ZONES, lost), web(hard())) == skewed("a", "b")


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(web(), id="no-constraints"),
        pytest.param(web(soft()), id="soft-ones-only"),
    ],
)
def test_nothing_to_filter(subject):
    handle = cluster(THREE_ZONES, SERVICE)

    assert plugin_on(handle).pre_filter(fwk.CycleState(), subject, handle.rows) == fwk.skip()


def test_filter_and_score_need_what_comes_before():
    handle, state = cluster(THREE_ZONES), fwk.CycleState()
    plugin = plugin_on(handle)
    with pytest.raises(StateNotFound):
        plugin.filter(state, web(hard()), handle.rows.at(0))
    with pytest.raises(StateNotFound):
        plugin.score(state, web(soft()), handle.rows.at(0))


def test_a_broken_selector_fails_its_own_point_only():
    broken = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
    handle, state = cluster(THREE_ZONES), fwk.CycleState()
    plugin, subject = plugin_on(handle), web(hard(), soft(selector=broken))

    assert plugin.pre_filter(state, subject, handle.rows) is None
    with pytest.raises(InvalidSelector):
        plugin.pre_score(state, subject, handle.rows)


# --- Score ---------------------------------------------------------------------------------------

ZONED = {
    "n0": (f"{HOSTNAME}=n0 {ZONE}=za", 2),
    "n1": (f"{HOSTNAME}=n1 {ZONE}=za", 1),
    "n2": (f"{HOSTNAME}=n2 {ZONE}=zb", 4),
    "n3": (f"{HOSTNAME}=n3", 3),
}


def scores(handle, subject, rows=None, **args):
    """Raw and normalised scores."""
    plugin, state, rows = plugin_on(handle, **args), fwk.CycleState(), rows or handle.rows
    assert plugin.pre_score(state, subject, rows) is None
    raw = plugin.score_all(state, subject, rows)
    return raw.tolist(), plugin.normalize_score(state, subject, raw, rows).tolist()


def test_system_defaults_take_nodes_without_a_zone():
    # Three domains for the weight: za, zb and the blank one of n3, which gets no zone's worth.
    expected = [14, 13, 20, 7], [65, 70, 35, 100]

    assert scores(cluster(ZONED, SERVICE), web()) == expected


def test_own_constraints_ignore_nodes_without_a_key():
    nodes = {**ZONED, "n3": (f"{HOSTNAME}=n3", 4)}
    expected = [8, 7, 13, 0], [92, 100, 53, 0]

    assert scores(cluster(nodes), web(soft(ZONE), soft(HOSTNAME, 2))) == expected


def test_listed_defaults_ignore_nodes_without_a_key():
    handle = cluster(ZONED, SERVICE)
    listed = web(soft(ZONE, selector=None)).spec.topology_spread_constraints

    found = scores(handle, web(), default_constraints=listed, defaulting_type="List")

    # ln(2 zones + 2) times the 3 pods of za, and the 4 of zb.
    assert found == ([4, 4, 6, 0], [100, 100, 66, 0])


def test_nodes_without_a_zone_are_of_the_blank_zone():
    nodes = {
        "blank": (f"{ZONE}=", 1),
        "without": ("rack=1", 4),
        "a": (f"{ZONE}=a", 0),
        "b": (f"{ZONE}=b", 0),
    }
    handle = cluster(nodes, SERVICE)
    feasible = fwk.Rows(handle.state, handle.rows.index[[1, 2]])

    # ln(3 zones + 2) times 5 pods, and 4 for the skew; a lone zone-less node stands for the blank.
    assert scores(handle, web())[0] == [12, 0, 4, 4]
    assert scores(handle, web(soft(ZONE)))[0] == [2, 0, 0, 0]
    assert weights(handle, web(), feasible) == [math.log(4), math.log(4)]


def weights(handle, subject, rows):
    state = fwk.CycleState()
    plugin_on(handle).pre_score(state, subject, rows)
    return [term.weight for term in state.get(SoftCounts).terms]


def test_a_node_that_lacks_another_key_counts_for_no_domain():
    nodes = {"a": ("zone=a rack=1", 0), "b": ("zone=b rack=2", 0), "lost": ("zone=a", 5)}

    assert scores(cluster(nodes), web(soft(), soft("rack"))) == ([0, 0, 0], [100, 100, 0])


def test_nodes_are_alike_without_pods():
    handle = cluster({name: (labels, 0) for name, (labels, _) in ZONED.items()})

    assert scores(handle, web(soft(HOSTNAME))) == ([0, 0, 0, 0], [100, 100, 100, 100])


def test_domains_are_those_of_feasible_nodes_but_pods_count_everywhere():
    nodes = {"a1": ("zone=a", 1), "a2": ("zone=a", 5), "b": ("zone=b", 3), "c": ("zone=c", 9)}
    handle = cluster(nodes)
    feasible = fwk.Rows(handle.state, handle.rows.index[[0, 2]])

    # ln(2 zones + 2) times the 6 pods of a, and the 3 of b.
    assert scores(handle, web(soft()), feasible) == ([8, 4], [50, 100])


DISKS = [("a", "", 2), ("b", "disk=ssd", 1), ("c", "disk=ssd", 1)]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("rack", [0, 2, 2], id="excluded-nodes-count-for-no-domain"),
        pytest.param(HOSTNAME, [3, 2, 2], id="a-host-counts-whatever-the-policy"),
    ],
)
def test_policies_and_hosts(key, expected):
    # ln(3 domains + 2) times the pods that count.
    nodes = {name: (f"{key}={name} {disk}", count) for name, disk, count in DISKS}
    subject = web(soft(key), node_selector="disk=ssd")

    assert scores(cluster(nodes), subject)[0] == expected


@pytest.mark.parametrize(
    ("subject", "args"),
    [
        pytest.param(web(hard()), {}, id="own-hard-ones-shut-out-the-defaults"),
        pytest.param(web(labels="app=db"), {}, id="no-service-selects-it"),
        pytest.param(web(), {"defaulting_type": "List"}, id="no-defaults-listed"),
    ],
)
def test_nothing_to_score(subject, args):
    handle = cluster(ZONED, SERVICE)
    plugin = plugin_on(handle, **args)

    assert plugin.pre_score(fwk.CycleState(), subject, handle.rows) == fwk.skip()


def test_hard_defaults_filter_by_the_workload():
    handle = cluster(
        {name: (f"{ZONE}={name}", count) for name, count in (("a", 1), ("b", 0))}, SERVICE
    )
    listed = web(hard(ZONE, selector=None)).spec.topology_spread_constraints
    plugin = plugin_on(handle, default_constraints=listed, defaulting_type="List")
    state = fwk.CycleState()

    assert plugin.pre_filter(state, web(), handle.rows) is None
    assert list(plugin.filter_all(state, web(), handle.rows)) == [SKEWED, fwk.SUCCESS]
    assert plugin.pre_filter(state, web(labels="app=db"), handle.rows) == fwk.skip()
