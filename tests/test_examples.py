"""The examples run as they stand, and say what they promise."""

import runpy
from pathlib import Path

import pytest

from podium.cli import main

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SAID = {
    "schedule_a_pod.py": (
        "default/web goes to big\n"
        "default/batch waits: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes"
        " are available: 2 Preemption is not helpful for scheduling.\n"
    ),
    "emptiest_rack.py": "3 pods on the left rack, 3 on the right\n",
    "what_if.py": (
        "default/training fits on none of 4 nodes: 3 have less than 8 cpu free (on small-1, it has"
        " 4 cpu in all, and the pod requests 8); on gpu-0, the pod does not tolerate its taint"
        " gpu:NoSchedule.\n"
        "without default/batch: default/training goes to big-0\n"
    ),
    "extender_in_process.py": (
        "a right\nb right\nc left\nd right\ne 0/3 nodes are available: 3 no licence\n"
    ),
}


def test_every_example_is_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == SAID.keys()


@pytest.mark.parametrize("name", SAID)
def test_example(name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    assert capsys.readouterr().out == SAID[name]


def test_the_explanation_in_the_readme(capsys, monkeypatch):
    """The README shows the beginning of what the command prints, and marks that there is more."""
    text = (EXAMPLES.parent / "README.md").read_text()
    command = "podium explain pod training --from examples/cluster.json"
    shown = text.split(f"$ {command}\n", 1)[1].split("```")[0]
    monkeypatch.chdir(EXAMPLES.parent)

    main(command.split()[1:])

    printed = " ".join(capsys.readouterr().out.split())
    beginning, mark, rest = " ".join(shown.split()).rpartition(" …")
    assert (mark, rest) == (" …", "")
    assert printed.startswith(beginning)
    assert printed != beginning
