"""Coscheduling as the documentation and the integration tests of scheduler-plugins describe it.

All of it through the API of a cluster. The node has 300 bytes of memory, as theirs.
"""

import pytest

from tests.support.scenarios import node, reasons
from tests.support.scheduler_plugins import coscheduling, group, member, placed, play

pytestmark = pytest.mark.slow

ROOM = node(memory="300", cpu="32", pods="32")
MIDDLE = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 100}
CLASSES = [
    {**MIDDLE, "metadata": {"name": "low"}, "value": 0},
    {**MIDDLE, "metadata": {"name": "middle"}},
    {**MIDDLE, "metadata": {"name": "high"}, "value": 1000},
]
QUICK = coscheduling(permitWaitingTimeSeconds=10)


def members(of, count, memory, priority="middle"):
    return [member(f"{of}-{i}", of, memory=memory, priority=priority) for i in range(count)]


def singles(names, memory, priority="middle"):
    return [member(name, memory=memory, priority=priority) for name in names]


def in_rows(*lists):
    return [one for each in lists for one in each]


def mixed(*lists):
    """One of each list, then the second of each, and so on."""
    longest = max(map(len, lists))
    return [one[i] for i in range(longest) for one in lists if i < len(one)]


@pytest.mark.parametrize("arrange", [in_rows, mixed], ids=["rows", "mixed"])
@pytest.mark.parametrize(
    ("groups", "pods", "expected"),
    [
        pytest.param(
            [group("a", 3), group("b", 4)],
            [members("a", 3, "50"), members("b", 4, "100")],
            {"a-0", "a-1", "a-2"},
            id="the-second-group-lacks-room",
        ),
        pytest.param(
            [group("a", 4)],
            [members("a", 3, "50"), singles(["x", "y"], "100")],
            {"x", "y"},
            id="a-group-lacks-pods",
        ),
        pytest.param(
            [group("a", 3), group("b", 3)],
            [members("a", 3, "100"), members("b", 3, "50", "high")],
            {"b-0", "b-1", "b-2"},
            id="the-higher-priority-wins",
        ),
        pytest.param(
            [group("a", 3)],
            [members("a", 3, "50"), singles(["x", "y", "z"], "100", "high")],
            {"x", "y", "z"},
            id="single-pods-of-higher-priority-win",
        ),
        pytest.param(
            [group("a", 3), group("b", 4), group("c", 4)],
            [members("a", 3, "50"), members("b", 4, "100"), members("c", 4, "100")],
            {"a-0", "a-1", "a-2"},
            id="two-groups-lack-room",
        ),
        pytest.param(
            [
                group("a", 3, resources={"memory": "150"}),
                group("b", 4, resources={"memory": "400"}),
                group("c", 4, resources={"memory": "400"}),
            ],
            [members("a", 3, "50"), members("b", 4, "100"), members("c", 4, "100")],
            {"a-0", "a-1", "a-2"},
            id="groups-that-name-resources",
        ),
    ],
)
def test_who_gets_the_room(groups, pods, expected, arrange):
    async def scene(cluster):
        await cluster.create(*CLASSES, ROOM, *groups)
        await cluster.create(*arrange(*pods))
        await cluster.wait(15)
        assert placed(cluster) == expected

    play(scene, QUICK)


def test_a_replica_set_with_more_pods_than_the_minimum():
    """Of six pods three fit, which is enough; with a minimum of four none would start."""
    template = {
        "metadata": {"labels": {"app": "nginx", "scheduling.x-k8s.io/pod-group": "nginx"}},
        "spec": member("x", memory="100")["spec"],
    }
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "nginx"},
        "spec": {
            "replicas": 6,
            "selector": {"matchLabels": {"app": "nginx"}},
            "template": template,
        },
    }

    def raise_minimum(obj):
        obj["spec"]["minMember"] = 4

    async def scene(cluster):
        await cluster.create(ROOM, group("nginx", 3, timeout=10), replica_set)
        await cluster.wait(15)
        assert len(placed(cluster)) == 3
        found = cluster.get("podgroups.scheduling.x-k8s.io", "nginx")
        assert found["status"] == {
            "phase": "Running",
            "occupiedBy": "default/nginx",
            "running": 3,
        }

    play(scene, QUICK)

    async def in_vain(cluster):
        await cluster.create(ROOM, group("nginx", 4, timeout=10), replica_set)
        await cluster.wait(60)
        assert placed(cluster) == set()
        found = cluster.get("podgroups.scheduling.x-k8s.io", "nginx")
        assert found["status"]["phase"] == "Scheduling"
        await cluster.create(node("n2", memory="100", cpu="32"))
        await cluster.wait(15)
        assert len(placed(cluster)) == 4

    play(in_vain, QUICK)


def test_messages():
    async def scene(cluster):
        await cluster.create(ROOM, group("a", 4), *members("a", 3, "50", None))
        await cluster.create(member("lost", "nowhere"))
        await cluster.create(group("b", 3, resources={"memory": "1Ki", "cpu": "40"}))
        await cluster.create(*members("b", 3, "10", None))
        await cluster.settle()

        few = "pre-filter pod a-0 cannot find enough sibling pods, current pods number: 3, "
        assert cluster.why_pending("a-0") == (
            f"0/1 nodes are available: {few}minMember of group: 4. "
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling., "
            "PodGroup default/a gets rejected due to Pod a-0 is unschedulable even after PostFilter"
        )
        assert cluster.why_pending("lost") == "0/1 nodes are available: 1 PodGroup not found."
        gap = "map[cpu:{{8000 -3} {<nil>}  DecimalSI} memory:{{724 0} {<nil>}  BinarySI}]"
        assert f"resource gap: {gap}" in cluster.why_pending("b-0")

    play(scene, QUICK)


def test_a_group_that_comes_later_wakes_its_pods():
    async def scene(cluster):
        await cluster.create(ROOM, *members("a", 2, "50", None))
        await cluster.settle()
        assert placed(cluster) == set()
        await cluster.create(group("a", 2))
        await cluster.wait(3)
        assert placed(cluster) == {"a-0", "a-1"}

    play(scene, QUICK)


def test_gated_members_hold_the_others_back():
    def open_gate(obj):
        obj["spec"]["schedulingGates"] = []

    async def scene(cluster):
        await cluster.create(ROOM, group("a", 3), *members("a", 2, "50", None))
        await cluster.create(member("gated", "a", gates=["example.com/wait"]))
        await cluster.settle()
        assert placed(cluster) == set()
        gated = "cannot proceed due to gated pods in the same PodGroup"
        assert f"pre-filter pod a-0 {gated}" in cluster.why_pending("a-0")

        await cluster.update("pods", "gated", open_gate)
        await cluster.wait(3)
        assert placed(cluster) == {"a-0", "a-1", "gated"}

    play(scene, QUICK)


def test_the_timeout_of_the_group_ends_the_wait():
    """Of ten, nine fit: within the tolerated tenth, so they wait for the last, but not for ever."""

    async def scene(cluster):
        await cluster.create(node(cpu="9"), group("a", 10, timeout=5))
        await cluster.create(*(member(f"a-{i}", "a", cpu="1") for i in range(10)))
        await cluster.settle()
        state = cluster.scheduler.scheduler.services.cluster
        assert placed(cluster) == set()
        assert len(state.pods) == 9  # they wait, and hold their room

        await cluster.wait(5.1)
        assert len(state.pods) == 0
        texts = [text for i in range(10) for _, text in reasons(cluster, f"a-{i}")]
        late = "rejected due to timeout after waiting 5s at plugin Coscheduling"
        assert f"0/1 nodes are available: 1 {late}." in texts

        await cluster.create(node("n2", cpu="1"))
        await cluster.wait(15)
        assert len(placed(cluster)) == 10

    play(scene, QUICK)


def test_a_member_deleted_in_the_meantime():
    async def scene(cluster):
        await cluster.create(node(cpu="9"), group("a", 10, timeout=30))
        await cluster.create(*(member(f"a-{i}", "a", cpu="1") for i in range(10)))
        await cluster.settle()
        await cluster.delete("pods", "a-3")
        await cluster.settle()
        assert placed(cluster) == set()
        assert len(cluster.scheduler.scheduler.services.cluster.pods) == 0

        await cluster.delete("pods", "a-4")
        await cluster.update(
            "podgroups.scheduling.x-k8s.io", "a", lambda obj: obj["spec"].update(minMember=8)
        )
        await cluster.wait(5)
        assert len(placed(cluster)) == 8

    play(scene, QUICK)


def test_a_group_deleted_in_the_meantime():
    async def scene(cluster):
        await cluster.create(node(cpu="9"), group("a", 10, timeout=20))
        await cluster.create(*(member(f"a-{i}", "a", cpu="1") for i in range(10)))
        await cluster.settle()
        await cluster.delete("podgroups.scheduling.x-k8s.io", "a")
        await cluster.wait(21)
        assert placed(cluster) == set()
        assert len(cluster.scheduler.scheduler.services.cluster.pods) == 0

        await cluster.create(group("a", 9))
        await cluster.wait(15)
        assert len(placed(cluster)) == 9

    play(scene, QUICK)


def test_more_members_than_nodes_can_hold_leave_room_for_others():
    async def scene(cluster):
        await cluster.create(node(cpu="2"), group("huge", 1000))
        await cluster.create(*(member(f"huge-{i}", "huge", cpu="1") for i in range(5)))
        await cluster.create(member("single", cpu="2"))
        await cluster.wait(3)
        assert placed(cluster) == {"single"}

    play(scene, QUICK)


def test_two_groups_that_fit_one_after_the_other():
    async def scene(cluster):
        await cluster.create(node(cpu="4"), group("a", 4), group("b", 4))
        pods = [[member(f"{of}-{i}", of, cpu="1") for i in range(4)] for of in "ab"]
        await cluster.create(*mixed(*pods))
        await cluster.wait(15)
        first = placed(cluster)
        assert first == {"a-0", "a-1", "a-2", "a-3"}

        for name in sorted(first):
            await cluster.delete("pods", name)
        await cluster.wait(15)
        assert placed(cluster) == {"b-0", "b-1", "b-2", "b-3"}

    play(scene, QUICK)


def test_the_backoff_of_groups():
    async def scene(cluster):
        await cluster.create(node(cpu="2"), group("a", 3))
        await cluster.create(*(member(f"a-{i}", "a", cpu="1") for i in range(4)))
        await cluster.settle()
        assert "podGroup default/a failed recently" in cluster.why_pending("a-3")

        await cluster.create(node("n2", cpu="2"))
        await cluster.wait(19)
        assert len(placed(cluster)) == 0
        await cluster.wait(2)
        assert len(placed(cluster)) == 4

    play(scene, coscheduling(podGroupBackoffSeconds=20))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"priorityClassName": "system-node-critical"}, id="priority"),
        pytest.param({"schedulerName": "second"}, id="profile"),
    ],
)
def test_members_with_different_priorities_or_profiles_start_together(change):
    async def scene(cluster):
        odd = member("odd", "a", cpu="1")
        odd["spec"].update(change)
        await cluster.create(node(cpu="3"), group("a", 3))
        await cluster.create(*(member(f"a-{i}", "a", cpu="1") for i in range(2)))
        await cluster.wait(3)
        assert placed(cluster) == set()

        await cluster.create(odd)
        await cluster.wait(15)
        assert placed(cluster) == {"a-0", "a-1", "odd"}

    second = {**coscheduling(), "schedulerName": "second"}
    play(scene, coscheduling(), second)
