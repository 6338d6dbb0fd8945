"""What a running scheduler knows about pods, nodes and its queue."""

import pytest
from msgspec.structs import replace

from podium import framework as fwk
from podium.api.objects import PodStatus
from podium.testing.builders import pod
from tests.support import toys
from tests.support.introspection import introspection
from tests.support.live import Desk, play

FULL = fwk.Status.unschedulable("no room")


def ask(desk, name, on_node=""):
    return introspection(desk).look_at_pod(f"default/{name}", on_node)()


def by_name(**answers):
    return lambda pod, node: answers.get(node.name)


class Weighted(Desk):
    """A desk on which the plugin S counts twice."""

    def __init__(self, *plugins, **parts):
        super().__init__(*plugins, **parts)
        self.profile.weights["S"] = 2


def test_a_pod_that_nobody_has_heard_of():
    async def scene(desk):
        assert introspection(desk).look_at_pod("default/web") is None

    play(scene)


def test_a_pending_pod():
    async def scene(desk):
        desk.see_nodes("n1", "n2")
        desk.see(pod("web"))
        await desk.settle()

        found = ask(desk, "web")
        assert (found.state, found.node) == ("unschedulable", "")
        assert (found.queued.attempts, found.queued.rejected_by) == (1, ("Full",))
        (attempt,) = found.attempts
        assert attempt.message == "0/2 nodes are available: 2 no room."
        (refusal,) = attempt.refusals
        assert (refusal.plugin, refusal.reason, refusal.nodes) == ("Full", "no room", 2)
        assert found.notes == ()

    play(scene, toys.Filter("Full", FULL), toys.Bind("Bind"))


def test_a_placed_pod_and_a_node_that_lost():
    async def scene(desk):
        desk.see_nodes("n1", "n2", "n3")
        desk.see(pod("web"))
        await desk.settle()
        desk.see_bound(pod("web"), "n1")

        found = ask(desk, "web", "n2")
        assert (found.state, found.node) == ("placed", "n1")
        (attempt,) = found.attempts
        assert [(each.node, each.total) for each in attempt.best] == [("n1", 18), ("n2", 10)]
        assert [(s.plugin, s.normalized, s.weight) for s in attempt.best[0].scores] == [("S", 9, 2)]
        lost = attempt.on_node
        assert (lost.verdict, lost.rank, lost.behind, lost.score.total) == ("feasible", 2, 8, 10)
        assert ask(desk, "web", "n1").attempts[0].on_node.verdict == "chosen"
        refused = ask(desk, "web", "n3").attempts[0].on_node
        assert (refused.verdict, refused.plugin, refused.reasons) == (
            "refused", "F", ("no room",),
        )  # fmt: skip
        assert ask(desk, "web", "n9").attempts[0].on_node.verdict == "no such node"

    score = toys.Score("S", lambda pod, node: {"n1": 9, "n2": 5}.get(node.name, 0))
    play(scene, toys.Filter("F", by_name(n3=FULL)), score, toys.Bind("Bind"), kind=Weighted)


def test_a_pod_that_waits_for_permission():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()

        found = ask(desk, "web")
        assert (found.state, found.node) == ("waiting", "n1")
        assert found.waiting.plugins == ("Group",)
        (waiting,) = introspection(desk).look_at_queue(5)().waiting
        assert (waiting.pod, waiting.node, waiting.plugins) == ("default/web", "n1", ("Group",))

    play(scene, toys.Permit("Group", fwk.wait(60)), toys.Bind("Bind"))


@pytest.mark.parametrize(
    ("subject", "state"),
    [
        pytest.param(pod("web", scheduler_name="other"), "not ours", id="another-scheduler"),
        pytest.param(
            replace(pod("web", node="n1"), status=PodStatus(phase="Succeeded")),
            "ended",
            id="has-succeeded",
        ),
    ],
)
def test_pods_that_are_not_scheduled(subject, state):
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(subject)
        await desk.settle()

        assert ask(desk, "web").state == state

    play(scene, toys.Bind("Bind"))


def test_a_deleted_pod_is_remembered_and_its_namesake_is_another_pod():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()
        desk.lose(pod("web"))

        gone = ask(desk, "web")
        assert (gone.state, len(gone.attempts)) == ("gone", 1)
        desk.see(pod("web", uid="second"))
        await desk.settle()
        again = ask(desk, "web")
        assert (again.uid, len(again.attempts)) == ("second", 1)
        assert again.notes == ("left out: 1 attempt of an earlier pod with this name",)

    play(scene, toys.Filter("Full", FULL), toys.Bind("Bind"))


def test_the_queue():
    async def scene(desk):
        desk.see_nodes("n1")
        for name in ("a", "b", "c"):
            desk.see(pod(name))
        await desk.settle()

        found = introspection(desk).look_at_queue(2)()
        assert (found.active, found.unschedulable, found.gated) == (0, 3, 0)
        assert [each.pod for each in found.pods] == ["default/a", "default/b"]

    play(scene, toys.Filter("Full", FULL), toys.Bind("Bind"))


def test_a_node_in_the_records():
    async def scene(desk):
        desk.see_nodes("n1", "n2")
        for name in ("a", "b"):
            desk.see(pod(name))
        await desk.settle()

        full = introspection(desk).look_at_node("n2")()
        assert (full.placed, full.attempts, full.detailed) == ((), 2, 2)
        (refusal,) = full.refusals
        assert (refusal.plugin, refusal.reason, refusal.attempts) == ("F", "no room", 2)
        assert introspection(desk).look_at_node("n1")().placed == ("default/b", "default/a")
        assert introspection(desk).look_at_node("n3") is None

    play(scene, toys.Filter("F", by_name(n2=FULL)), toys.Bind("Bind"))


def test_who_answers():
    async def scene(desk):
        desk.see_nodes("n1")
        found = introspection(desk).identity()
        assert (found.profiles, found.records, found.oldest) == (("default-scheduler",), 0, "")
        desk.see(pod("web"))
        await desk.settle()
        assert introspection(desk).identity().records == 1

    play(scene, toys.Bind("Bind"))
