"""`podium chaos` as a command."""

import json

import pytest

from podium.chaos import shrinking, trial
from podium.chaos.invariants import Violation
from podium.cli import main

SCRIPT = {"seed": 1, "seconds": 5, "steps": [{"at": 0, "what": "create-node", "name": "n0"}]}


@pytest.fixture
def broken(monkeypatch):
    """Let every trial with a fault in it break an invariant."""
    run = trial.run

    def failing(script, kind):
        report = run(
            script if len(script.steps) < 3 else script.without(range(len(script.steps))), kind
        )
        is_bad = any(step.is_fault for step in script.steps)
        violations = (Violation(1.0, "it holds", "it does not"),) if is_bad else ()
        return type(report)(
            **{
                **{name: getattr(report, name) for name in report.__slots__},
                "script": script,
                "violations": violations,
            }
        )

    monkeypatch.setattr(trial, "run", failing)
    monkeypatch.setattr(shrinking, "MOST_TRIALS", 60)


def test_a_script_is_replayed(tmp_path, capsys):
    path = tmp_path / "script.json"
    path.write_text(json.dumps(SCRIPT))

    assert main(["chaos", "--script", str(path)]) == 0
    assert capsys.readouterr().out.startswith("seed 1  ok  0 faults, 0 pods bound")


@pytest.mark.slow
def test_a_seed_that_fails_leaves_a_short_script(broken, tmp_path, capsys):
    assert main(["chaos", "--seed", "3", "--minutes", "0.2", "--save", str(tmp_path)]) == 1

    said = capsys.readouterr().out
    assert "it holds: it does not" in said
    assert f"podium chaos --script {tmp_path / 'chaos-3.json'}" in said
    assert len(json.loads((tmp_path / "chaos-3.json").read_text())["steps"]) == 1


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--script", "nowhere"], "nowhere: cannot be read: No such file or directory"),
        (["--script", "/dev/zero"], "/dev/zero: cannot be read: not a file or a pipe"),
        (["--script", __file__], "not a script of podium chaos"),
        (["--save", "nowhere"], "there is no such directory"),
        (["--script", "x", "--seed", "1"], "leave out --seed"),
    ],
)
def test_bad_input_is_named(flags, problem, capsys):
    assert main(["chaos", *flags]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--seed", "-1"], "--seed: must be a number from 0 to 4294967295, not '-1'"),
        (["--seeds", "0"], "--seeds: must be a number from 1 to 1000000, not '0'"),
        (["--script", ""], "--script: must not be empty"),
    ],
)
def test_bad_numbers_and_names(flags, problem, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["chaos", *flags])
    assert problem in capsys.readouterr().err
