"""Trials: seeds under which everything holds, and mistakes in podium that a trial finds."""

from random import Random

import pytest

from podium.chaos import trial
from podium.chaos.script import FAULTS, Script, Step, draw
from podium.client.api_client import ApiClient
from podium.client.http import Fence
from podium.live.running import RunningScheduler

NODE = Step(0.0, "create-node", "n0", 0, 2000)


def pods(*times, cpu=300):
    return [Step(at, "create-pod", f"p{n}", 0, cpu) for n, at in enumerate(times)]


def script(*steps, seconds=60.0, seed=1):
    return Script(seed, seconds, tuple(sorted([NODE, *steps], key=lambda step: step.at)))


def broken(report):
    return {violation.invariant for violation in report.violations}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_everything_holds_under_faults(seed):
    report = trial.run(draw(seed, 1))

    assert report.violations == ()
    assert report.bindings > 0


def test_a_script_decides_everything():
    drawn = draw(7, 0.5)

    first, second = trial.run(drawn), trial.run(drawn)
    assert first.digest == second.digest
    assert first.digest != trial.run(draw(8, 0.5)).digest


@pytest.mark.parametrize("fault", FAULTS)
def test_pods_are_bound_after_each_kind_of_fault(fault):
    strikes = Step(5.0, fault, "leader", 10, 100, Random(fault).getrandbits(32))

    report = trial.run(script(*pods(1, 6, 20), strikes, seconds=30))

    assert report.violations == ()
    assert report.bindings == 3
    unneeded = {"stale-list", "plugin-leak"}  # nothing lists then, and nothing is undone
    assert report.struck[fault] > 0 or fault in unneeded


def test_a_failover_is_a_recovery():
    report = trial.run(script(*pods(1, 6), Step(5.0, "kill", "leader", 40, 100)))

    assert report.leaders == 2
    assert report.recoveries == 1
    assert 8 < report.longest_recovery < 16, "the lease lasts 15 s"


# --- mistakes ------------------------------------------------------------------------------------

FROZEN = script(
    Step(4.0, "plugin-hang", "leader", 3, 100, 3),  # a binding that is under way
    *pods(5),
    Step(6.0, "freeze", "leader", 25, 100, 0),
)


def test_a_leader_that_was_frozen_sends_nothing_when_it_wakes_up():
    assert trial.run(FROZEN).violations == ()


def test_without_a_fence_it_would(monkeypatch):
    monkeypatch.setattr(Fence, "check", lambda fence: None)

    assert "only the leader writes" in broken(trial.run(FROZEN))


# A binding waits for a plugin until 9.0; its answer is lost, and so is the event that shows it.
LOST_ANSWERS = script(
    Step(3.0, "plugin-hang", "leader", 1.5, 100, 4),
    *pods(4, 4.1, cpu=1300),
    Step(5.0, "watch-silence", "leader", 20, 100, 1),
    Step(8.5, "lost-answer", "leader", 1, 100, 1),
)


def test_a_binding_without_an_answer_keeps_its_room():
    assert trial.run(LOST_ANSWERS).violations == ()


def test_if_it_counted_as_failed_the_room_would_be_given_away(monkeypatch):
    async def is_on(client, pod, node_name):
        return False

    monkeypatch.setattr(ApiClient, "_is_on", is_on)

    assert "no node is over-committed" in broken(trial.run(LOST_ANSWERS))


# The standby hears late of the last bindings of the leader that it follows.
LATE = script(
    *pods(5, 5, cpu=900),
    Step(4.0, "watch-delay", "standby", 40, 100, 4),
    Step(6.0, "kill", "leader", 40, 100),
    *[Step(7.0, "create-pod", f"q{n}", 0, 900) for n in range(3)],
    seed=3,
)


def test_a_new_leader_catches_up_before_its_first_binding():
    assert trial.run(LATE).violations == ()


def test_a_stale_list_is_of_the_form_that_was_asked_for():
    """A new leader lists names and versions only; a list of pods must not get that answer."""
    steps = (
        *(Step(0.0, "create-node", f"n{number}", 0, 2000) for number in range(4)),
        Step(0.0, "create-pod", "p0", 0, 300),
        Step(77.88370645572388, "create-pod", "p3", 0, 800),
        Step(77.88370645572388, "create-pod", "p4", 0, 500),
        Step(80.93188258314565, "kill", "leader", 20.2, 100, 1823049133),
        Step(100.04017290263586, "watch-delay", "standby", 6.6, 30, 3968454645),
        Step(102.38446976009716, "stale-list", "standby", 11.2, 30, 3721497073),
    )

    assert trial.run(Script(70, 120.0, steps)).violations == ()


def test_pods_that_a_process_left_behind_are_noticed(monkeypatch):
    async def never(scheduler):
        """Do not schedule."""
        await scheduler.watches.drain(1e6)

    monkeypatch.setattr(RunningScheduler, "run", never)

    assert broken(trial.run(script(*pods(5)))) == {"every schedulable pod is bound"}
