"""Trials with gangs and quotas: seeds under which everything holds, and mistakes that are found."""

from collections import Counter

import pytest

from podium.chaos import gangs, trial
from podium.chaos.group_trial import GroupTrial
from podium.chaos.script import GROUP_DEEDS, Script, Step, read, text_of
from podium.plugins.gang_scheduling import GangScheduling
from podium.queue.group_queue import GroupQueue
from podium.scheduler_plugins.capacity_scheduling import CapacityScheduling
from podium.scheduler_plugins.coscheduling import Coscheduling

NODES = [Step(0.0, "create-node", f"n{number}", 0, 1000) for number in range(2)]


def run(*steps, seconds=30.0):
    in_order = sorted([*NODES, *steps], key=lambda step: step.at)
    return trial.run(Script(1, seconds, tuple(in_order), groups=True), GroupTrial)


def broken(report):
    return {violation.invariant for violation in report.violations}


def gang(at, *, what="create-gang", count=4, minimum=4, **rest):
    return Step(at, what, "g", amount=500, count=count, minimum=minimum, **rest)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
def test_everything_holds_under_faults(seed):
    report = trial.run(gangs.draw(seed, 2), GroupTrial)

    assert report.violations == ()
    assert report.bindings > 0


def test_every_deed_is_drawn_and_survives_a_file(tmp_path):
    drawn = gangs.draw(1, 60)
    path = tmp_path / "script.json"
    path.write_text(text_of(drawn))

    assert set(GROUP_DEEDS) <= set(Counter(step.what for step in drawn.steps))
    assert read(path) == drawn


@pytest.mark.parametrize("what", ["create-gang", "create-labelled-gang"])
@pytest.mark.parametrize(
    ("steps", "bound"),
    [
        pytest.param([], 4, id="undisturbed"),
        pytest.param([Step(20.0, "replace-member", "g", seed=3)], 5, id="a-member-is-replaced"),
        pytest.param([Step(1.0, "delete-gang", "g")], 0, id="deleted-at-once"),
        pytest.param([Step(5.05, "kill", "leader", 5, 100, 1)], 4, id="the-leader-dies"),
        pytest.param([Step(4.0, "refuse", "all", 8, 100, 1)], 4, id="bindings-are-refused"),
        pytest.param([Step(4.0, "plugin-raise", "all", 8, 60, 1)], 4, id="plugins-raise"),
    ],
)
def test_a_gang_that_fits_starts_whole(what, steps, bound):
    at = 1.0 if bound == 0 else 5.0
    report = run(gang(at, what=what), *steps)

    assert report.violations == ()
    assert report.bindings == bound


@pytest.mark.parametrize("what", ["create-gang", "create-labelled-gang"])
def test_a_gang_that_cannot_fit_holds_nobody_up(what):
    singles = [Step(6.0 + n, "create-pod", f"p{n}", amount=500) for n in range(4)]
    report = run(gang(5.0, what=what, count=6, minimum=6), *singles)

    assert report.violations == ()
    assert report.bindings == 4
    assert report.longest_wait <= 2.0


def test_gates_hold_a_gang_back_and_a_lower_minimum_lets_it_go():
    opened = run(gang(5.0, is_gated=True), Step(10.0, "open-gates", "g"))
    assert (opened.violations, opened.bindings) == ((), 4)

    kept = run(gang(5.0, is_gated=True))
    assert (kept.violations, kept.bindings) == ((), 0)

    lowered = run(gang(5.0, count=6, minimum=6), Step(10.0, "set-minimum", "g", minimum=4))
    assert (lowered.violations, lowered.bindings) == ((), 4)


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "what"),
    [(GangScheduling, "create-gang"), (Coscheduling, "create-labelled-gang")],
)
def test_a_gang_that_starts_too_early_is_noticed(plugin, what, monkeypatch):
    monkeypatch.setattr(plugin, "permit", lambda self, state, pod, node_name: None)
    if plugin is GangScheduling:  # its members would be found not to fit before Permit
        ok = lambda self, group, progress: None  # noqa: E731
        monkeypatch.setattr(plugin, "placement_feasible", ok)

    report = run(gang(5.0, what=what, count=6, minimum=6))

    assert "nobody of a gang is bound before the gang may start" in broken(report)


def test_a_quota_that_is_exceeded_is_noticed(monkeypatch):
    monkeypatch.setattr(CapacityScheduling, "pre_filter", lambda self, state, pod, nodes: None)
    nodes = [Step(0.0, "create-node", f"m{n}", amount=1000) for n in range(10)]
    pods = [Step(5.0, "create-pod", f"p{n}", amount=500, namespace="team-a") for n in range(16)]

    assert broken(run(*nodes, *pods)) == {"no quota is exceeded"}


def test_a_gang_that_is_forgotten_is_noticed(monkeypatch):
    monkeypatch.setattr(GroupQueue, "set_group", lambda queue, group: None)

    assert broken(run(gang(5.0))) == {"every schedulable pod is bound"}
