"""Scripts: drawn, written, read, shortened."""

from collections import Counter

import pytest

from podium.chaos.invariants import Violation
from podium.chaos.report import Recoveries, Report
from podium.chaos.script import FAULTS, Script, Step, draw, read, text_of
from podium.chaos.shrinking import shrink
from podium.errors import PodiumError


def test_a_seed_always_draws_the_same():
    assert draw(3, 2) == draw(3, 2)
    assert draw(3, 2) != draw(4, 2)


def test_every_kind_of_fault_is_drawn():
    drawn = Counter(step.what for step in draw(1, 60).steps)

    assert set(FAULTS) <= set(drawn)


def test_a_script_survives_its_file(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(text_of(draw(5, 1)))

    assert read(path) == draw(5, 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("[]", "not a script of podium chaos"),
        ('{"seed": 1, "seconds": 1, "steps": [{"at": 1, "what": "x"}]}', 'there is no "x"'),
        ('{"seed": 1, "seconds": 1, "steps": [{"at": 1, "what": "kill"}]}', "steps[0].name"),
        ('{"seed": 1, "seconds": 1e300, "steps": []}', "seconds: must be above 0 and at most"),
        ('{"seed": 1, "seconds": 1, "steps": [{"at": 2, "what": "cordon"}]}', "steps[0].at: must"),
        (
            '{"seed": 1, "seconds": 1, "steps": [{"at": 1, "what": "cordon", "seconds": -1}]}',
            "steps[0].seconds: must be from 0 to 86400, a day",
        ),
    ],
)
def test_a_file_that_is_not_a_script_is_refused(tmp_path, text, problem):
    path = tmp_path / "script.json"
    path.write_text(text)

    with pytest.raises(PodiumError) as refused:
        read(path)
    assert problem in str(refused.value)


def a_report(script, *violations):
    return Report(
        script=script, struck=Counter(), bindings=0, excused=0, leaders=0, requests=0,
        recoveries=0, longest_recovery=0.0, longest_wait=0.0, violations=violations, digest="",
    )  # fmt: skip


def test_a_failing_script_is_shortened_to_the_steps_that_matter():
    steps = tuple(Step(float(n), "create-pod", f"p{n}") for n in range(40))

    def run(script):
        names = {step.name for step in script.steps}
        fails = {"p7", "p31"} <= names
        return a_report(script, *[Violation(1.0, "it", "")] * fails)

    shortest = shrink(Script(1, 40.0, steps), run)

    assert [step.name for step in shortest.steps] == ["p7", "p31"]


def test_a_script_that_breaks_something_else_is_not_taken():
    steps = (Step(0.0, "create-pod", "a"), Step(1.0, "create-pod", "b"))

    def run(script):
        return a_report(script, Violation(1.0, "this" if len(script.steps) == 2 else "that", ""))

    assert shrink(Script(1, 2.0, steps), run).steps == steps


def test_shortening_ends_after_so_many_trials():
    tried = []

    def run(script):
        tried.append(script)
        return a_report(script, *[Violation(1.0, "it", "")] * (len(tried) == 1))

    shrink(draw(1, 5), run, most_trials=5)

    assert len(tried) == 6, "and the one at the beginning"


def test_a_recovery_is_a_time_in_which_a_pod_could_be_bound_and_none_was():
    recoveries = Recoveries()
    for now, waiting, bindings in [(0, False, 0), (1, True, 0), (5, True, 0), (6, True, 1),
                                   (7, True, 1), (8, False, 1)]:  # fmt: skip
        recoveries.look(now, waiting, bindings)

    assert (recoveries.count, recoveries.longest) == (1, 5)
