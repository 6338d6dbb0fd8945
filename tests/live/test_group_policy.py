"""The preemption policy of a group itself, with the gate PodGroupPreemptionPolicy."""

import pytest

from podium.testing.builders import pod
from tests.support.groups import group, member, play

GATE = "PodGroupPreemptionPolicy=true"
NEVER = "Never"
LOWER = "PreemptLowerPriority"
NOT_ELIGIBLE = "pod group preemption: not eligible due to preemptionPolicy=Never."
SAME = "all pods in a single pod group should have the same preemption policy"
AS_THE_GROUP = f"{SAME} as the pod group's preemption policy"


async def outcome_of(world, of_group, *of_pods):
    """The condition of a group with these policies that needs the node of another pod."""
    world.add_nodes("n0", cpu="1")
    world.add(pod("victim", cpu="1", node="n0"))
    rest = {} if of_group is None else {"preemptionPolicy": of_group}
    world.add(group(min_count=1, priority=5, **rest))
    for number, policy in enumerate(of_pods):
        fields = {} if policy is None else {"preemption_policy": policy}
        world.add(member(f"p{number}", cpu="1", priority=5, **fields))
    await world.settle()
    return world.condition()[1:]


@pytest.mark.parametrize(
    ("of_group", "of_pods", "reason", "message"),
    [
        pytest.param(NEVER, [NEVER], "Unschedulable", NOT_ELIGIBLE, id="never"),
        pytest.param(LOWER, [LOWER], "Unschedulable", "preempting 1 victims", id="may"),
        pytest.param(None, [None], "Unschedulable", "preempting 1 victims", id="may-by-default"),
        pytest.param(
            NEVER, [LOWER], "SchedulerError", f"{AS_THE_GROUP}, got {LOWER} and {NEVER}",
            id="only-the-pod-may",
        ),
        pytest.param(
            None, [NEVER], "SchedulerError", f"{AS_THE_GROUP}, got {NEVER} and {LOWER}",
            id="only-the-group-may",
        ),
        pytest.param(
            LOWER, [LOWER, NEVER], "SchedulerError", f"{AS_THE_GROUP}, got {NEVER} and {LOWER}",
            id="one-pod-differs",
        ),
    ],
)  # fmt: skip
def test_with_the_gate(of_group, of_pods, reason, message):
    async def scene(world):
        found = await outcome_of(world, of_group, *of_pods)

        assert found[0] == reason
        assert found[1].endswith(message)
        assert world.pods["victim"].is_terminating is message.endswith("victims")

    play(scene, GATE)


@pytest.mark.parametrize(
    ("of_pods", "reason", "message"),
    [
        pytest.param([LOWER], "Unschedulable", "preempting 1 victims", id="the-pod-may"),
        pytest.param([NEVER], "Unschedulable", NOT_ELIGIBLE, id="the-pod-may-not"),
        pytest.param(
            [LOWER, NEVER], "SchedulerError", f"{SAME}, got {NEVER} and {LOWER}", id="they-differ"
        ),
    ],
)
def test_without_the_gate_the_pods_decide(of_pods, reason, message):
    async def scene(world):
        found = await outcome_of(world, NEVER, *of_pods)

        assert found[0] == reason
        assert found[1].endswith(message)

    play(scene)
