"""Filter's two forms against a plain model: on random clusters, and in dry runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.selectors import from_map
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.plugins.pod_topology_spread.hard import VERDICTS
from podium.state import pod_groups
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.topology_spread import (
    HARD,
    Model,
    some_incoming,
    some_labels,
    some_nodes,
    some_pods,
    some_selectors,
)

WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}
WORDS = dict(zip(VERDICTS, ["fits", "skewed", "keyless"], strict=True))


class Trial:
    """The plugin on a cluster, with PreFilter done for one pod."""

    def __init__(self, nodes, placed, subject):
        self.model = Model(nodes, placed, subject)
        self.handle = FakeHandle(*nodes, *placed)
        self.plugin = PodTopologySpread(PodTopologySpread.Args(), self.handle)
        self.subject = subject
        self.state = fwk.CycleState()
        assert self.plugin.pre_filter(self.state, subject, self.handle.rows) is None

    def verdicts(self, state=None, rows=None):
        """By node, after a check that both forms give the same."""
        state = self.state if state is None else state
        rows = self.handle.rows if rows is None else rows
        together = list(self.plugin.filter_all(state, self.subject, rows))
        one_by_one = [self.plugin.filter(state, self.subject, each) for each in rows]
        assert one_by_one == together
        return {name: WORDS[status] for name, status in zip(rows.names, together, strict=True)}

    def follow(self, state, amount, infos, *, at_once=True):
        """Tell the plugin that pods came to their nodes or left them."""
        one = self.plugin.add_pod if amount > 0 else self.plugin.remove_pod
        many = self.plugin.add_pods if amount > 0 else self.plugin.remove_pods
        nodes = [self.handle.state.node(info.pod.node_name) for info in infos]
        if at_once:
            rows = np.array([each.row for each in nodes], np.intp)
            assert many(state, self.subject, fwk.PodsOnRows(self.handle.rows, infos, rows)) is None
            return
        for info, where in zip(infos, nodes, strict=True):
            assert one(state, self.subject, info, where) is None


@st.composite
def some_trial(draw, selectors=some_selectors):
    nodes = draw(some_nodes())
    return Trial(nodes, draw(some_pods(nodes)), draw(some_incoming(HARD, selectors=selectors)))


@given(trial=some_trial())
def test_verdicts_are_the_models(trial):
    assert trial.verdicts() == trial.model.verdicts()


@given(trial=some_trial(), data=st.data())
def test_a_part_of_the_nodes_is_judged_like_the_whole(trial, data):
    rows = trial.handle.rows.index.tolist()
    part = np.array([row for row in rows if data.draw(st.booleans())], np.intp)
    view = fwk.Rows(trial.handle.state, part)

    verdicts = trial.verdicts(rows=view)

    whole = trial.verdicts()
    assert verdicts == {name: whole[name] for name in view.names}


@given(trial=some_trial(), data=st.data())
def test_each_node_is_a_world_of_its_own(trial, data):
    before = trial.verdicts()
    nodes = {each.name: each for each in trial.model.nodes}
    state, changes = trial.state, []
    for prefix in ("x", "y"):
        state = state.clone()
        known = list(trial.handle.state.pods.values())
        new = [fwk.PodInfo(other) for other in data.draw(some_pods(trial.model.nodes, prefix))]
        for amount, infos in ((-1, known), (1, new)):
            moved = [i for i in infos if i.pod.node_name in nodes and data.draw(st.booleans())]
            trial.follow(state, amount, moved, at_once=data.draw(st.booleans()))
            changes += [(nodes[info.pod.node_name], info.pod, amount) for info in moved]

    verdicts = trial.verdicts(state)

    for name, where in nodes.items():
        here = [change for change in changes if change[0] is where]
        assert verdicts[name] == trial.model.verdicts(here)[name]
    assert trial.verdicts() == before  # only the clones have moved


@given(
    # Where counting and following pods differ, as upstream's do, no such cluster exists.
    trial=some_trial(some_selectors.filter(lambda written: written != {})),
    data=st.data(),
)
def test_a_world_is_the_cluster_with_the_change_made(trial, data):
    name = data.draw(st.sampled_from(trial.model.nodes)).name
    new = pod("new", labels=data.draw(some_labels()), node=name)
    gone = [
        info
        for info in trial.handle.state.pods.values()
        if info.pod.node_name == name and not info.pod.is_terminating and data.draw(st.booleans())
    ]
    trial.follow(trial.state, 1, [fwk.PodInfo(new)])
    trial.follow(trial.state, -1, gone)

    left = {other.uid for other in trial.model.placed} - {info.uid for info in gone}
    placed = [other for other in trial.model.placed if other.uid in left]
    made = Trial(trial.model.nodes, [*placed, new], trial.subject)

    assert trial.verdicts()[name] == made.verdicts()[name]


@pytest.mark.parametrize(
    ("constraint", "ending", "moves", "expected"),
    [
        pytest.param({"maxSkew": 2, **WEB}, False, [], "skewed", id="two-are-too-many"),
        pytest.param({"maxSkew": 2, **WEB}, False, [-1], "fits", id="one-leaves"),
        pytest.param({"maxSkew": 2, **WEB}, False, [-1, 1], "skewed", id="and-comes-back"),
        pytest.param({"maxSkew": 1, **WEB}, True, [], "skewed", id="an-ending-pod-is-not-counted"),
        pytest.param({"maxSkew": 1, **WEB}, True, [-1], "fits", id="and-yet-leaves-once-more"),
        pytest.param({"maxSkew": 1, "labelSelector": {}}, False, [], "fits", id="empty-selector"),
        pytest.param(
            {"maxSkew": 1, "labelSelector": {}}, False, [1], "skewed", id="follows-all-the-same"
        ),
        pytest.param({"maxSkew": 1}, False, [1, 1], "fits", id="no-selector-follows-nobody"),
    ],
)
def test_what_following_does_not_look_at(constraint, ending, moves, expected):
    """Two pods on ``a``, the one that moves perhaps ending; none on ``b``."""
    nodes = [node("a", labels="zone=a"), node("b", labels="zone=b")]
    end = "2026-01-01T00:00:00Z" if ending else ""
    placed = [
        pod("stays", labels="app=web", node="a"),
        pod("moves", labels="app=web", node="a", deletion_timestamp=end),
    ]
    written = {"topologyKey": "zone", "whenUnsatisfiable": HARD, **constraint}
    trial = Trial(nodes, placed, pod(labels="app=web", topology_spread_constraints=[written]))
    other = trial.handle.state.pods["uid-moves"]

    for amount in moves:
        trial.follow(trial.state, amount, [other])

    assert trial.verdicts()["a"] == expected
    changes = [(nodes[0], other.pod, amount) for amount in moves]
    assert trial.model.verdicts(changes)["a"] == expected


@pytest.mark.parametrize(
    ("counts", "arrivals", "fitting"),
    [
        pytest.param([3, 0], {"b": 2}, ["b"], id="the-emptiest-zone-stays-the-emptiest"),
        pytest.param([3, 0, 3], {"b": 3}, ["b"], id="catches-up"),
        pytest.param([3, 0, 3], {"b": 4}, [], id="gets-ahead"),
        pytest.param([1, 1, 3], {"a": 2}, ["b"], id="another-zone-is-the-emptiest"),
        pytest.param([2, 1, 3], {"b": 1, "a": 1}, ["b"], id="each-in-its-own-world"),
        pytest.param([0, 0, 0], {"a": -1}, ["a", "b", "c"], id="below-nothing"),
    ],
)
def test_the_minimum_moves_with_the_world(counts, arrivals, fitting):
    names = "abc"[: len(counts)]
    nodes = [node(name, labels=f"zone={name}") for name in names]
    placed = [
        pod(f"{name}-{index}", labels="app=web", node=name)
        for name, count in zip(names, counts, strict=True)
        for index in range(count)
    ]
    written = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": HARD, **WEB}
    trial = Trial(nodes, placed, pod(labels="app=web", topology_spread_constraints=[written]))

    for name, amount in arrivals.items():
        comers = [fwk.PodInfo(pod(f"new-{i}", labels="app=web", node=name)) for i in range(4)]
        trial.follow(trial.state, amount, comers[: abs(amount)])

    assert [name for name, verdict in trial.verdicts().items() if verdict == "fits"] == fitting


def test_a_zone_that_does_not_count_has_no_minimum_of_its_own():
    """With no skew allowed, which no API server accepts, the minimum alone decides."""
    nodes = [node("a", labels="zone=a disk=ssd"), node("b", labels="zone=b")]
    written = {"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": HARD, **WEB}
    placed = [pod("placed", labels="app=web", node="a")]
    subject = pod(labels="app=web", node_selector="disk=ssd", topology_spread_constraints=[written])
    trial = Trial(nodes, placed, subject)
    assert trial.verdicts() == {"a": "skewed", "b": "fits"}

    trial.follow(trial.state, 1, [fwk.PodInfo(pod("new", labels="app=web", node="b"))])

    assert trial.verdicts() == {"a": "skewed", "b": "fits"}


def test_a_clone_of_a_changed_state_goes_its_own_way():
    nodes = [node("a", labels="zone=a"), node("b", labels="zone=b")]
    written = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": HARD, **WEB}
    trial = Trial(nodes, [], pod(labels="app=web", topology_spread_constraints=[written]))
    comer = fwk.PodInfo(pod("new", labels="app=web", node="a"))
    first = trial.state.clone()
    trial.follow(first, 1, [comer])
    second = first.clone()

    trial.follow(second, -1, [comer])

    assert [trial.verdicts(state)["a"] for state in (trial.state, first, second)] == [
        "fits",
        "skewed",
        "fits",
    ]


def test_groups_made_for_other_selectors_are_told_apart_again(monkeypatch):
    """With room for one selector's counts, the others' label keys are forgotten at once."""
    monkeypatch.setattr(pod_groups, "VIEW_BYTES", 1)
    nodes = [node("a", labels="zone=a"), node("b", labels="zone=b")]
    placed = [pod("web", labels="app=web tier=1", node="a"), pod("db", labels="app=db", node="a")]
    written = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": HARD, **WEB}
    trial = Trial(nodes, placed, pod(labels="app=web", topology_spread_constraints=[written]))
    cluster = trial.handle.state
    for key in ("tier", "version"):
        cluster.counts(fwk.PodQuery((fwk.Clause(None, from_map({key: "1"})),)))

    trial.follow(trial.state, -1, [cluster.pods["uid-db"]])
    assert trial.verdicts()["a"] == "skewed"
    trial.follow(trial.state, -1, [cluster.pods["uid-web"]])

    assert trial.verdicts()["a"] == "fits"
