"""The dry run by columns finds what the general one finds, and what a slow model finds."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import LabelSelector, ObjectMeta, PodDisruptionBudget
from podium.api.workloads import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from podium.plugins.inter_pod_affinity import InterPodAffinity
from podium.plugins.node_ports import NodePorts
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.taint_toleration import TaintToleration
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.preemption_model import Model
from tests.support.releases import plugin_of
from tests.support.search import examples

GPU = "example.com/gpu"
NODES = "abc"
PRIORITY = 5
RELEASES = pytest.mark.parametrize("release", [V1_36, V1_37], ids=str)


class AskedFit(NodeResourcesFit):
    """The same filter, which does not stand by its needs: preemption must ask it every time."""

    def filter_all(self, state, pod, nodes):
        return super().filter_all(state, pod, nodes)


amounts = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["0", "500m", "1", "2", "9"]),
        "memory": st.sampled_from(["0", "1Gi", "3Gi"]),
        GPU: st.integers(0, 2),
    },
)
starts = st.sampled_from(
    ["", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "9999-01-01T00:00:00Z", "no time"]
)
AVOIDS_WEB = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "web"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}


@st.composite
def some_pods(draw, name, *, on="", priority=None, plain=False):
    return pod(
        name,
        node=on,
        priority=draw(st.integers(-2, 6)) if priority is None else priority,
        requests=draw(amounts),
        labels=draw(st.sampled_from(["", "app=web", "app=db", "app=web tier=x"])),
        host_ports=() if plain else draw(st.sampled_from([(), (), (80,)])),
        affinity={} if plain else draw(st.sampled_from([{}, {}, {}, AVOIDS_WEB])),
        status={"start_time": draw(starts)} if on else {},
    )


@st.composite
def some_clusters(draw, *, plain=False):
    """Objects, and nominations as (pod, node): nodes may be overcommitted."""
    objects = [
        node(
            name,
            cpu=draw(st.sampled_from(["1", "2", "4"])),
            memory="4Gi",
            pods=draw(st.sampled_from([2, 4, 110])),
            allocatable={GPU: draw(st.integers(0, 2))},
            labels=f"kubernetes.io/hostname={name}",
            taints="" if plain else draw(st.sampled_from(["", "", "", "gpu=a:NoSchedule"])),
        )
        for name in NODES
    ]
    for number in range(draw(st.integers(0, 10))):
        on = draw(st.sampled_from(NODES))
        objects.append(draw(some_pods(f"p{number}", on=on, plain=plain)))
    nominations = [
        (draw(some_pods(f"w{number}", plain=plain)), draw(st.sampled_from(NODES)))
        for number in range(draw(st.integers(0, 3)))
    ]
    for app in draw(st.sets(st.sampled_from(["web", "db"]))):
        objects.append(budget(app, draw(st.integers(0, 2)), app=app))
    if not plain and draw(st.booleans()):
        objects.append(budget("second", draw(st.integers(0, 1)), tier="x"))
    return objects, nominations


def budget(name, allowed, **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


class Attempt:
    """A pod that fits nowhere, and what preemption makes of it."""

    def __init__(self, fit, cluster, preemptor, release):
        objects, nominations = cluster
        self.handle = FakeHandle(*objects)
        for waiting, name in nominations:
            self.handle.nominator.add(fwk.PodInfo(waiting), fwk.Nominate(name))
        self.pod = preemptor
        self.plugin = plugin_of("DefaultPreemption", release, self.handle)
        self.handle.use(
            TaintToleration(TaintToleration.Args(), self.handle),
            NodePorts(NodePorts.Args(), self.handle),
            fit(fit.Args(), self.handle),
            InterPodAffinity(InterPodAffinity.Args(), self.handle),
            self.plugin,
        )
        self.state = fwk.CycleState()
        rows = self.handle.rows
        self.handle.profile.run_pre_filters(self.state, preemptor, rows)
        judged = self.handle.run_filters(self.state, preemptor, rows)
        self.statuses = fwk.NodeStatuses(rows, judged)

    @property
    def decides_by_columns(self):
        return self.handle.room_for(self.state, self.pod).decides

    def outcome(self):
        """Candidates with victims and violations, the best nodes, and the message."""
        found = self.plugin.evaluator.evaluate(self.state, self.pod, self.statuses)
        candidates = [
            (each.node, [info.pod.name for info in each.victims], each.violations)
            for each in found.candidates
        ]
        best = [each.node for each in self.plugin.evaluator.best(found.candidates)]
        as_values = [each.node for each in self.plugin.evaluator.best(list(found.candidates))]
        assert best == as_values  # as extenders may return them
        return candidates, best, found.status


@RELEASES
@examples(300)
@given(cluster=some_clusters(), preemptor=some_pods("new", priority=PRIORITY))
def test_both_forms_agree(release, cluster, preemptor):
    columns = Attempt(NodeResourcesFit, cluster, preemptor, release)
    general = Attempt(AskedFit, cluster, preemptor, release)

    assert not general.decides_by_columns
    assert columns.outcome() == general.outcome()


@RELEASES
@examples(300)
@given(
    cluster=some_clusters(plain=True),
    preemptor=some_pods("new", priority=PRIORITY, plain=True),
)
def test_columns_agree_with_a_slow_model(release, cluster, preemptor):
    attempt = Attempt(NodeResourcesFit, cluster, preemptor, release)
    assert attempt.decides_by_columns
    candidates, _, _ = attempt.outcome()

    assert {name: (victims, count) for name, victims, count in candidates} == {
        name: (victims.names, victims.violations)
        for name in in_question(attempt)
        if (victims := modelled(attempt, cluster, name)) is not None
    }


def in_question(attempt):
    rows = attempt.statuses.rows_with(fwk.Code.UNSCHEDULABLE)
    return [attempt.handle.cluster.names[row] for row in rows]


def modelled(attempt, cluster, name):
    objects, nominations = cluster
    info = attempt.handle.cluster.node(name)
    budgets = {
        each.spec.selector.match_labels["app"]: each.status.disruptions_allowed
        for each in objects
        if isinstance(each, PodDisruptionBudget)
    }
    ahead = [fwk.PodInfo(waiting) for waiting, where in nominations if where == name]
    now = int(attempt.handle.clock.now() * 1e9)
    model = Model(attempt.pod, resources.allocatable(info.node), ahead, budgets, now)
    return model.victims(info.pods)


def test_a_pod_that_looks_at_ports_asks_the_filters():
    preemptor = pod("new", priority=PRIORITY, host_ports=(80,))
    attempt = Attempt(NodeResourcesFit, ([node("a")], []), preemptor, V1_37)
    assert not attempt.decides_by_columns


class OutOfTree(fwk.FilterPlugin):
    """Refuses nodes with more than one pod, and declares nothing."""

    name = "OutOfTree"

    def filter(self, state, pod, node):
        return fwk.Status.unschedulable("crowded") if len(node.pods) > 1 else None


def test_a_filter_from_outside_is_asked_about_every_victim():
    handle = FakeHandle(
        node("a", cpu="8"),
        *(pod(f"low{n}", node="a", cpu="1", priority=n) for n in range(3)),
    )
    plugin = plugin_of("DefaultPreemption", V1_37, handle)
    fit = NodeResourcesFit(NodeResourcesFit.Args(), handle)
    handle.use(fit, OutOfTree(None, handle), plugin)
    state, high = fwk.CycleState(), pod("high", cpu="1", priority=9)
    handle.profile.run_pre_filters(state, high, handle.rows)
    statuses = fwk.NodeStatuses(handle.rows, handle.run_filters(state, high, handle.rows))
    found = plugin.evaluator.evaluate(state, high, statuses)

    assert [info.pod.name for info in found.candidates[0].victims] == ["low1", "low0"]


def test_a_preemptor_may_be_the_first_to_request_a_resource():
    cluster = [node("a", cpu="1", allocatable={GPU: 1}), pod("low", node="a", cpu="1")], []
    cluster[1].append((pod("waiting", cpu="1", priority=PRIORITY), "a"))
    preemptor = pod("new", priority=PRIORITY, requests={GPU: 1})
    attempt = Attempt(NodeResourcesFit, cluster, preemptor, V1_37)

    assert attempt.outcome()[0] == []


def test_starts_are_read_again_after_an_update():
    early, late = "2026-01-01T00:00:01Z", "2026-01-01T00:00:09Z"
    first = pod("first", node="a", cpu="1", status={"start_time": early})
    second = pod("second", node="a", cpu="1", status={"start_time": late})
    cluster = [node("a", cpu="2"), first, second], []
    attempt = Attempt(NodeResourcesFit, cluster, pod("new", cpu="1", priority=1), V1_37)
    assert attempt.outcome()[0] == [("a", ["second"], 0)]

    status = msgspec.structs.replace(first.status, start_time="2026-01-01T00:00:10Z")
    attempt.handle.state.update_pod(msgspec.structs.replace(first, status=status))
    assert attempt.outcome()[0] == [("a", ["first"], 0)]
