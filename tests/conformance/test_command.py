"""``podium conformance`` as a user meets it."""

import json

import pytest

from podium.cli import main
from tests.support.recordings import HINT, PLACED, SEQUENCE, changed, pod

DIFFERENT = changed(PLACED, "expect.best", ["b"])
BAD_POD = changed(PLACED, "pod.spec.containers", "none")
BAD_CONFIG = changed(PLACED, "config.kind", "Sheep")
TWICE = [pod("first", 1, nodeName="a")] * 2
NO_PROFILE = 'Pod default/web: spec.schedulerName: no profile is named "other"'
ODD = [
    ("no-steps", SEQUENCE, "steps", [], "not a recorded case: a sequence without a"),
    ("no-profile", PLACED, "pod.spec.schedulerName", "other", NO_PROFILE),
    ("no-profile-for-a-hint", HINT, "pod.spec.schedulerName", "other", NO_PROFILE),
    ("a-pod-twice", PLACED, "cluster.pods", TWICE, "pod uid-first(default/first) was already"),
    ("deleted-and-not-there", SEQUENCE, "steps.4.pod", "default/nobody", "default/nobody is"),
    ("deleted-by-an-object", SEQUENCE, "steps.4.pod", {}, "not the name of an object"),
    ("unknown-step", SEQUENCE, "steps.4.op", "rename", "unknown kind of step: rename"),
    ("step-expects-nothing", SEQUENCE, "steps.0.expect", None, "not a recorded case: `schedule`"),
    ("wrong-step-expects", SEQUENCE, "steps.0.op", "addPod", "not a recorded case: `schedule`"),
]


@pytest.fixture
def run(tmp_path, capsys):
    def run_command(*cases, options=()):
        path = tmp_path / "cases.jsonl"
        path.write_text("".join(json.dumps(case) + "\n" for case in cases))
        status = main(["conformance", str(path), *options])
        return status, *capsys.readouterr()

    return run_command


def test_agreement(run):
    status, out, err = run(PLACED, HINT)

    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "2 passed, 0 failed, 0 left out"


def test_difference(run):
    status, out, _ = run(DIFFERENT, HINT)

    assert status == 1
    assert out.splitlines() == [
        'attempts/placed-0: best: expected ["b"], got ["a"]',
        "",
        "1 passed, 1 failed, 0 left out",
    ]


def test_json(run):
    status, out, _ = run(DIFFERENT, HINT, options=("-o", "json"))

    assert status == 1
    assert json.loads(out)["differences"][0]["got"] == ["a"]


@pytest.mark.parametrize("options", [("--family", "hints"), ("--name", "*taint*")])
def test_selection(run, options):
    status, out, _ = run(DIFFERENT, HINT, options=options)

    assert status == 0
    assert out == "1 passed, 0 failed, 0 left out\n"


@pytest.mark.parametrize(
    ("cases", "options", "said"),
    [
        pytest.param([PLACED], ("--family", "x"), "no case is selected", id="none-selected"),
        pytest.param([{}], (), "cases.jsonl:1: ", id="no-case"),
        pytest.param([HINT, BAD_POD], (), "cases.jsonl:2: Pod default/web: ", id="bad-object"),
        pytest.param([BAD_CONFIG], (), "cases.jsonl:1: ", id="bad-configuration"),
        *(
            pytest.param([changed(case, path, value)], (), f"cases.jsonl:1: {said}", id=name)
            for name, case, path, value, said in ODD
        ),
    ],
)
def test_unusable_input(run, cases, options, said):
    status, out, err = run(*cases, options=options)

    assert (status, out) == (2, "")
    assert err.startswith("podium: ")
    assert said in err


def test_failing_plugins_leave_the_terminal_alone(run):
    """A recorded fault is expected to happen: nobody wants its traceback."""
    broken = changed(PLACED, "config.profiles.0.plugins.preScore", {"disabled": [{"name": "*"}]})
    broken["expect"] = {**PLACED["expect"], "error": "not found"}
    del broken["expect"]["scores"], broken["expect"]["total"], broken["expect"]["best"]

    status, out, err = run(broken)

    assert (status, out, err) == (0, "1 passed, 0 failed, 0 left out\n", "")
