"""When PodTopologySpread's answers hold for the next pod: its signature and what it reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import ObjectMeta, Service, ServiceSpec
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.topology_spread import (
    HARD,
    HOSTNAME,
    SOFT,
    some_incoming,
    some_nodes,
    some_pods,
)

WEB = {"matchLabels": {"app": "web"}}
SERVICE = Service(ObjectMeta(name="web", namespace="default"), ServiceSpec({"app": "web"}))
A = fwk.Aspect


def constraint(action=HARD, key="zone", **rest):
    written = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": action}
    return {**written, "labelSelector": WEB, **rest}


def web(*constraints, labels="app=web", **rest):
    return pod(labels=labels, topology_spread_constraints=list(constraints), **rest)


def plugin_on(*objects, **args):
    return PodTopologySpread(PodTopologySpread.Args(**args), FakeHandle(*objects))


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        pytest.param(pod(labels="app=db"), pod(labels="app=cache"), True, id="no-constraints"),
        pytest.param(
            web(constraint(), labels="app=web id=1"),
            web(constraint(), labels="app=web id=2"),
            True,
            id="labels-that-do-not-matter",
        ),
        pytest.param(
            web(constraint()), web(constraint(), labels="app=db"), False, id="counts-itself-or-not"
        ),
        pytest.param(
            web(constraint(SOFT)), web(constraint(SOFT), labels="app=db"), True, id="soft-ones-not"
        ),
        pytest.param(
            web(constraint()), web(constraint(), namespace="other"), False, id="namespaces"
        ),
        pytest.param(
            web(constraint()), web(constraint(), node_selector="disk=ssd"), False, id="affinity"
        ),
        pytest.param(
            web(constraint(nodeAffinityPolicy="Ignore")),
            web(constraint(nodeAffinityPolicy="Ignore"), node_selector="disk=ssd"),
            True,
            id="affinity-ignored",
        ),
        pytest.param(
            web(constraint(SOFT, HOSTNAME)),
            web(constraint(SOFT, HOSTNAME), node_selector="disk=ssd"),
            True,
            id="hosts-count-whatever-the-policy",
        ),
        pytest.param(
            web(constraint()), web(constraint(), tolerates="gpu:"), True, id="taints-ignored"
        ),
        pytest.param(
            web(constraint(nodeTaintsPolicy="Honor")),
            web(constraint(nodeTaintsPolicy="Honor"), tolerates="gpu:"),
            False,
            id="taints-honored",
        ),
        pytest.param(
            web(constraint(matchLabelKeys=["id"]), labels="app=web id=1"),
            web(constraint(matchLabelKeys=["id"]), labels="app=web id=2"),
            False,
            id="label-keys-to-match",
        ),
        pytest.param(web(), web(labels="app=db"), False, id="a-service-selects-one"),
        pytest.param(
            web(labels="app=web id=1"), web(labels="app=web id=2"), True, id="or-selects-both"
        ),
    ],
)
def test_signatures(first, second, equal):
    plugin = plugin_on(SERVICE)

    assert (plugin.sign(first) == plugin.sign(second)) is equal
    assert not equal or hash(plugin.sign(first)) == hash(plugin.sign(second))


def test_signatures_follow_the_services():
    plugin, subject = plugin_on(), web()
    before = plugin.sign(subject)

    plugin._spreading._cluster._state.set_object(SERVICE)

    assert before == ()
    assert plugin.sign(subject) != ()


def test_defaults_are_told_from_own_constraints():
    system = PodTopologySpread.Args().defaults
    own = web(
        constraint(SOFT, HOSTNAME, maxSkew=3), constraint(SOFT, system[1].topology_key, maxSkew=5)
    )
    plugin = plugin_on(SERVICE)

    assert plugin._spreading.soft(own) == plugin._spreading.soft(web())
    assert plugin.sign(own) != plugin.sign(web())


def test_a_broken_selector_cannot_be_signed():
    broken = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
    plugin, subject = plugin_on(), web(constraint(SOFT, labelSelector=broken))

    with pytest.raises(fwk.NotSignable):
        plugin.sign(subject)
    assert plugin.depends_on(subject) == fwk.Dependencies(cluster=A.ALL, feasible=True)


@pytest.mark.parametrize(
    ("subject", "args", "expected"),
    [
        pytest.param(pod(), {}, fwk.Dependencies(scoring=0), id="nothing"),
        pytest.param(
            web(),
            {},
            fwk.Dependencies(scoring=A.PODS | A.LABELS, feasible=True),
            id="defaults-apply",
        ),
        pytest.param(
            web(constraint()), {}, fwk.Dependencies(cluster=A.PODS | A.LABELS, scoring=0), id="hard"
        ),
        pytest.param(
            web(constraint(SOFT)),
            {},
            fwk.Dependencies(scoring=A.PODS | A.LABELS, feasible=True),
            id="soft",
        ),
        pytest.param(
            web(constraint(nodeTaintsPolicy="Honor")),
            {},
            fwk.Dependencies(cluster=A.PODS | A.LABELS | A.TAINTS, scoring=0),
            id="taints",
        ),
    ],
)
def test_reads(subject, args, expected):
    assert plugin_on(SERVICE, **args).depends_on(subject) == expected


@given(data=st.data())
def test_pods_of_one_signature_get_the_same_answers(data):
    nodes = data.draw(some_nodes())
    handle = FakeHandle(*nodes, *data.draw(some_pods(nodes)))
    plugin = PodTopologySpread(PodTopologySpread.Args(), handle)
    written = data.draw(some_incoming(HARD, SOFT)).spec.topology_spread_constraints
    first, second = (
        pod(
            labels={**data.draw(st.sampled_from(LABELS)), "id": name},
            node_selector=data.draw(st.sampled_from(["", "disk=ssd"])),
            tolerates=data.draw(st.sampled_from(["", "gpu:"])),
            topology_spread_constraints=written,
        )
        for name in "12"
    )
    if plugin.sign(first) == plugin.sign(second):
        for mine, others in zip(
            answers(plugin, first, handle), answers(plugin, second, handle), strict=True
        ):
            assert np.array_equal(mine, others)


LABELS = [{"app": "web"}, {"app": "web", "version": "v1"}, {"app": "db"}, {}]


def answers(plugin, subject, handle):
    state, rows = fwk.CycleState(), handle.rows
    plugin.pre_filter(state, subject, rows)
    plugin.pre_score(state, subject, rows)
    raw = plugin.score_all(state, subject, rows)
    verdicts = plugin.filter_all(state, subject, rows).index
    return verdicts, raw, plugin.normalize_score(state, subject, raw, rows)


def test_counts_keep_the_label_numbers_they_were_made_with():
    """A column dropped for others comes back with other numbers; nothing has changed, though."""
    zones = [node("a", labels="zone=1"), node("b", labels="zone=2")]
    handle = FakeHandle(*zones, pod("placed", labels="app=web", node="a"))
    table = handle.state.table
    table.label_column("zone")
    handle.state.set_node(node("a", labels="zone=2"))
    handle.state.set_node(node("b", labels="zone=1"))
    plugin = PodTopologySpread(PodTopologySpread.Args(), handle)
    subject = web(constraint(), constraint(SOFT))
    before = [each.tolist() for each in answers(plugin, subject, handle)]
    state, rows = fwk.CycleState(), handle.rows
    plugin.pre_filter(state, subject, rows)
    plugin.pre_score(state, subject, rows)
    numbers = table.label_column("zone").numbers.tolist()

    for number in range(500):
        table.label_column(f"key-{number}")

    assert table.label_column("zone").numbers.tolist() != numbers
    assert plugin.filter_all(state, subject, rows).index.tolist() == before[0]
    assert plugin.score_all(state, subject, rows).tolist() == before[1]
