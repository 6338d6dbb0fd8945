"""DefaultPreemption as a plugin: who may preempt, what is said, who is chosen."""

import pytest

from podium import framework as fwk
from podium.api.objects import LabelSelector, ObjectMeta, PodDisruptionBudget
from podium.api.workloads import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from podium.plugins.node_ports import NodePorts
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.preemption import DefaultPreemption
from podium.release import LATEST, V1_36, V1_37
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.releases import plugin_of

ONE = "2026-01-01T00:00:01Z"
TWO = "2026-01-01T00:00:02Z"


def budget(name, allowed, *, disrupted=(), **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(disrupted, "")
        ),
    )


def victim(name, on, priority=0, cpu="1", start=ONE, **rest):
    return pod(name, node=on, cpu=cpu, priority=priority, status={"start_time": start}, **rest)


class Attempt:
    """One failed filtering, and what preemption makes of it."""

    def __init__(self, *objects, preemptor, release=LATEST, **args):
        self.handle = FakeHandle(*objects)
        self.pod = preemptor
        fit = NodeResourcesFit(NodeResourcesFit.Args(), self.handle)
        ports = NodePorts(NodePorts.Args(), self.handle)
        self.plugin = plugin_of("DefaultPreemption", release, self.handle, **args)
        self.handle.use(ports, fit, self.plugin)
        self.state = fwk.CycleState()
        profile = self.handle.profile
        profile.run_pre_filters(self.state, self.pod, self.handle.rows)
        judged = self.handle.run_filters(self.state, self.pod, self.handle.rows)
        self.statuses = fwk.NodeStatuses(self.handle.rows, judged)

    def evaluate(self):
        return self.plugin.evaluator.evaluate(self.state, self.pod, self.statuses)

    def post_filter(self):
        return self.plugin.post_filter(self.state, self.pod, self.statuses)

    def victims(self):
        return {c.node: [info.pod.name for info in c.victims] for c in self.evaluate().candidates}

    def chosen(self):
        best = self.plugin.evaluator.best(self.evaluate().candidates)
        return [candidate.node for candidate in best]


def high(cpu="2", **rest):
    return pod("high", cpu=cpu, priority=10, **rest)


def test_only_lower_priorities_are_victims():
    attempt = Attempt(
        node("a", cpu="2"),
        victim("equal", "a", priority=10),
        victim("lower", "a", priority=9),
        preemptor=high(cpu="1"),
    )
    assert attempt.victims() == {"a": ["lower"]}


def test_the_most_important_pods_are_spared_first():
    attempt = Attempt(
        node("a", cpu="3"),
        victim("old", "a", priority=1, start=ONE),
        victim("young", "a", priority=1, start=TWO),
        victim("important", "a", priority=5, start=TWO),
        preemptor=high(cpu="1"),
    )
    assert attempt.victims() == {"a": ["young"]}


def test_a_small_pod_is_spared_where_a_large_one_is_not():
    attempt = Attempt(
        node("a", cpu="4"),
        victim("large", "a", priority=5, cpu="3"),
        victim("small", "a", priority=1, cpu="1"),
        preemptor=high(cpu="3"),
    )
    assert attempt.victims() == {"a": ["large"]}


@pytest.mark.parametrize(
    ("budgets", "victims", "violations"),
    [
        pytest.param([], ["young"], 0, id="no-budget"),
        pytest.param([budget("b", 0, app="y")], ["old"], 0, id="a-guarded-pod-is-spared-first"),
        pytest.param([budget("b", 1, app="y")], ["young"], 0, id="the-budget-allows-one"),
        pytest.param(
            [budget("b", 0, disrupted=["young"], app="y")], ["young"], 0, id="counted-before"
        ),
        pytest.param(
            [budget("b", 0, app="y"), budget("c", 0, app="o")], ["young"], 1, id="both-guarded"
        ),
    ],
)
def test_budgets(budgets, victims, violations):
    attempt = Attempt(
        node("a", cpu="2"),
        victim("old", "a", start=ONE, labels="app=o"),
        victim("young", "a", start=TWO, labels="app=y"),
        *budgets,
        preemptor=high(cpu="1"),
    )
    assert attempt.victims() == {"a": victims}
    assert attempt.evaluate().candidates[0].violations == violations


# Three pods in order of importance: the first has both budgets, the others one each.
GUARDED_TWICE = (
    victim("both", "a", priority=3, labels="app=x tier=y"),
    victim("only-y", "a", priority=2, labels="app=z tier=y"),
    victim("free", "a", priority=1),
)


@pytest.mark.parametrize(("release", "violations"), [(V1_36, 2), (V1_37, 1)], ids=str)
def test_a_violated_budget_keeps_what_later_budgets_allow(release, violations):
    """1.37 stops at the first budget that a pod violates; 1.36 goes on and uses up the others."""
    attempt = Attempt(
        node("a", cpu="3"),
        *GUARDED_TWICE,
        budget("first", 0, app="x"),
        budget("second", 1, tier="y"),
        preemptor=high(cpu="3"),
        release=release,
    )

    assert attempt.evaluate().candidates[0].violations == violations


PLACEMENT = "preemption: found a potential placement for pod on node a, preempting 2 victims"


@pytest.mark.parametrize(("release", "message"), [(V1_36, ""), (V1_37, PLACEMENT)], ids=str)
def test_what_a_preemption_says(release, message):
    victims = victim("v1", "a"), victim("v2", "a")
    attempt = Attempt(node("a", cpu="2"), *victims, preemptor=high(), release=release)

    nominate, status = attempt.post_filter()
    for _, eviction in attempt.handle.spawned:
        eviction.close()

    assert nominate == fwk.Nominate("a")
    assert (status.code, status.message) == (fwk.Code.SUCCESS, message)


@pytest.mark.parametrize(
    ("on_a", "on_b", "best"),
    [
        pytest.param(
            [victim("a1", "a", 1, "2", labels="app=x")], [victim("b1", "b", 9, "2")], "b",
            id="no-broken-budget-before-all",
        ),
        pytest.param([victim("a1", "a", 3, "2")], [victim("b1", "b", 2, "2")], "b", id="lowest"),
        pytest.param(
            [victim("a1", "a", 3), victim("a2", "a", 2)],
            [victim("b1", "b", 3), victim("b2", "b", 1)],
            "b",
            id="smallest-sum",
        ),
        pytest.param(
            [victim("a1", "a", 3), victim("a2", "a", -2147483648)],
            [victim("b1", "b", 3, "2")],
            "b",
            id="fewest",
        ),
        pytest.param(
            [victim("a1", "a", 3, "2", ONE)], [victim("b1", "b", 3, "2", TWO)], "b", id="youngest"
        ),
    ],
)  # fmt: skip
def test_the_better_node_is_chosen(on_a, on_b, best):
    attempt = Attempt(
        node("a", cpu="2"), node("b", cpu="2"), *on_a, *on_b, budget("guard", 0, app="x"),
        preemptor=high(),
    )  # fmt: skip
    assert attempt.chosen() == [best]


def test_equal_candidates_are_all_named():
    attempt = Attempt(
        node("a", cpu="2"), node("b", cpu="2"),
        victim("a1", "a", cpu="2"), victim("b1", "b", cpu="2"),
        preemptor=high(),
    )  # fmt: skip
    assert attempt.chosen() == ["a", "b"]


def leaving(name, on, reason="PreemptionByScheduler"):
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    status = {"start_time": ONE, "conditions": [condition]}
    return pod(name, node=on, cpu="2", deletion_timestamp=TWO, status=status)


NOMINATED = {"nominated_node_name": "a"}


@pytest.mark.parametrize(
    ("preemptor", "others", "message"),
    [
        pytest.param(
            high(preemption_policy="Never"),
            [],
            "preemption: not eligible due to preemptionPolicy=Never.",
            id="never",
        ),
        pytest.param(
            high(status=NOMINATED),
            [leaving("v", "a")],
            "preemption: not eligible due to a terminating pod on the nominated node.",
            id="victims-are-leaving",
        ),
        pytest.param(
            high(), [],
            "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
            id="nobody-to-evict",
        ),
        pytest.param(
            high(cpu="9"), [victim("v", "a")],
            "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
            id="too-large-for-any-node",
        ),
    ],
)  # fmt: skip
def test_messages(preemptor, others, message):
    busy = [pod(f"busy-{name}", node=name, cpu="1", priority=10) for name in "ab"]
    attempt = Attempt(node("a", cpu="2"), node("b", cpu="2"), *busy, *others, preemptor=preemptor)
    assert attempt.post_filter()[1].message == message


def test_pods_leaving_for_another_reason_do_not_block():
    attempt = Attempt(
        node("a", cpu="2"), leaving("v", "a", "EvictionByEvictionAPI"),
        preemptor=high(status=NOMINATED),
    )  # fmt: skip
    assert attempt.post_filter()[0] == fwk.Nominate("a")


def test_nobody_to_evict_clears_the_nomination_but_ineligible_keeps_it():
    busy = pod("busy", node="a", cpu="2", priority=10)
    hopeless = Attempt(node("a", cpu="2"), busy, preemptor=high())
    never = Attempt(node("a", cpu="2"), busy, preemptor=high(preemption_policy="Never"))
    assert hopeless.post_filter()[0] == fwk.Nominate("")
    assert never.post_filter()[0] is None


def test_enough_candidates_end_the_search_but_one_must_break_no_budget():
    nodes = [node(f"n{i}", cpu="1") for i in range(6)]
    guarded = [victim(f"v{i}", f"n{i}", labels="app=x" if i else "") for i in range(6)]
    attempt = Attempt(
        *nodes, *guarded, budget("guard", 0, app="x"), preemptor=high(cpu="1"),
        min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=1,
    )  # fmt: skip
    found = attempt.evaluate()
    assert [candidate.violations for candidate in found.candidates if not candidate.violations]
    assert attempt.chosen() == ["n0"]


PERCENTAGE, ABSOLUTE = "minCandidateNodesPercentage", "minCandidateNodesAbsolute"


@pytest.mark.parametrize(
    ("args", "problems"),
    [
        pytest.param({}, [], id="defaults"),
        pytest.param({"min_candidate_nodes_percentage": 101},
                     [(PERCENTAGE, "101: not in valid range [0, 100]")], id="over-100"),
        pytest.param({"min_candidate_nodes_absolute": -1},
                     [(ABSOLUTE, "-1: not in valid range [0, inf)")], id="negative"),
        pytest.param({"min_candidate_nodes_percentage": 0, "min_candidate_nodes_absolute": 0},
                     [(PERCENTAGE, f"0: cannot be zero at the same time as {ABSOLUTE}"),
                      (ABSOLUTE, f"0: cannot be zero at the same time as {PERCENTAGE}")],
                     id="both-zero"),
    ],
)  # fmt: skip
def test_args(args, problems):
    found = DefaultPreemption.Args(**args).validate()

    assert list(found) == [fwk.Problem(path, f"Invalid value: {text}") for path, text in problems]


def test_when_extenders_leave_no_candidate_the_nomination_stays():
    attempt = Attempt(node("a", cpu="2"), pod("low", cpu="2", node="a"), preemptor=high())

    assert attempt.plugin.choose(attempt.pod, []) == (
        None,
        fwk.Status.unschedulable("preemption: no candidate node for preemption"),
    )
    assert attempt.handle.spawned == []


def test_a_search_without_candidates_goes_on_to_the_end():
    """The first nodes refuse by a filter that is not about resources; the last one does not."""
    names = [f"n{number:03}" for number in range(700)]
    taken = [victim(f"p-{name}", name, priority=99, host_ports=(80,)) for name in names[:-1]]
    free = [victim("evicted", names[-1], priority=1, cpu="1", host_ports=(80,))]
    lower = [victim(f"low-{name}", name, priority=0) for name in names]
    nodes = [node(name, cpu="8") for name in names]
    attempt = Attempt(*nodes, *taken, *free, *lower, preemptor=high(host_ports=(80,)))
    assert attempt.victims() == {names[-1]: ["evicted"]}
