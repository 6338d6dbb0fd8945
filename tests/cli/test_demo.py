"""`podium demo`: what it shows, and that it ends when told to."""

import io
import re
import signal
import subprocess
import sys

import pytest
from rich.console import Console

from podium.cli import demo, demo_show
from podium.cycle.record import Record, ScoredNode
from podium.testing.builders import pod

LONG = "  n1: 157 = Fit 50 x 3 + Image 7"
REFUSED = "0/3 nodes are available: 3 Insufficient cpu. preemption: nothing helps."


def waiting(name):
    condition = {"type": "PodScheduled", "status": "False", "message": REFUSED}
    return pod(name, status={"conditions": [condition]})


def test_progress_groups_pods_by_why_they_wait():
    pods = [pod("a", node="n1"), waiting("b"), waiting("c"), pod("d")]
    progress = demo_show.Progress.of(pods)

    assert (progress.seen, progress.undecided, progress.is_settled) == (4, 1, False)
    assert progress.reasons == {"0/3 nodes are available: 3 Insufficient cpu": 2}
    assert demo_show.rows(progress, 0.5) == [
        (1, "pods landed, 2 per second"),
        (2, "wait: 0/3 nodes are available: 3 Insufficient cpu"),
        (1, "are next"),
    ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_redrawn_on_a_terminal_and_told_once_elsewhere(is_terminal):
    out = io.StringIO()
    console = Console(file=out, width=40, soft_wrap=True, force_terminal=is_terminal)
    with demo_show.Display(console) as display:
        display.show(demo_show.Progress.of([pod("a")]), 1.0)
        display.show(demo_show.Progress.of([pod("a", node="n1"), waiting("b")]), 1.0)

    told = out.getvalue()
    if is_terminal:
        assert "0 pods landed" in " ".join(told.split())
    else:  # a line each, however narrow; and none for what was so in between
        assert told.splitlines() == [
            "   1  pods landed, 1 per second",
            "   1  wait: 0/3 nodes are available: 3 Insufficient cpu",
        ]


def test_a_record_reads_as_a_decision():
    best = (
        ScoredNode("n1", 157, {"Fit": 50, "Image": 7, "Zone": 0}),
        ScoredNode("n2", 0, {"Fit": 0, "Image": 0}),
    )
    placed = Record("default/web", "u", 1, "p", nodes=3, feasible=2, node="n1", best=best, tied=2)
    refused = Record(
        "default/big", "u", 4, "p", nodes=3, message=REFUSED, rejected={("Fit", "too small"): 3}
    )

    assert demo_show.record_text(placed, {"Fit": 3, "Image": 1}).splitlines()[1:] == [
        "  -> n1: 2 of 3 nodes were feasible",
        "     n1: 157 = Fit 50 x 3 + Image 7",
        "     n2: 0 = 0",
        "     2 nodes shared the highest total",
    ]
    assert demo_show.record_text(refused, {}).splitlines()[1:] == [
        f"  {REFUSED}",
        "     Fit refused 3: too small",
    ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_line_goes_on_further_in_on_a_terminal(is_terminal):
    out = io.StringIO()
    console = Console(
        file=out, width=26, soft_wrap=True, highlight=False, force_terminal=is_terminal
    )

    demo_show.print_record(f"pod a\n{LONG}", console)

    broken = ["  n1: 157 = Fit 50 x 3 +", "      Image 7"]
    assert out.getvalue().splitlines()[1:] == (broken if is_terminal else [LONG])


def test_examples_are_one_that_landed_and_one_that_waits():
    progress = demo_show.Progress.of([pod("a", node="n1"), waiting("b")])
    records = [
        Record("default/a", "u", 1, "p", node="n1"),
        Record("default/b", "u", 1, "p"),
        Record("default/b", "u", 2, "p"),
    ]

    shown = [(record.pod, record.attempt) for _, record in demo_show.examples(progress, records)]
    assert shown == [("default/a", 1), ("default/b", 2)]


def totals(story):
    """Each node's total as it is told, beside what its parts come to."""
    for total, parts in re.findall(r"^ +node-\d+: (\d+) = (.*)$", story, re.MULTILINE):
        factors = [re.findall(r" (\d+)(?: x (\d+))?$", part) for part in parts.split(" + ")]
        yield int(total), sum(int(score) * int(weight or 1) for [(score, weight)] in factors)


@pytest.mark.slow
def test_the_demo_tells_its_story_and_runs_until_interrupted(tmp_path):
    command = [sys.executable, "-m", "podium", "demo", f"--kubeconfig={tmp_path / 'config'}"]
    process = subprocess.Popen(
        [*command, f"--state-file={tmp_path / 'state.json'}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        told = []
        for line in process.stdout:
            told.append(line)
            if "keeps running" in line:
                break
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()

    story = "".join(told)
    assert (process.returncode, err) == (0, "")
    assert demo.PODS == 1000
    assert "800  pods landed" in story
    assert "100 Insufficient cpu" in story
    assert "why a pod landed where it did" in story
    assert "why a pod waits" in story
    assert [total for total, _ in totals(story)] == [added for _, added in totals(story)] != []
    assert rest.endswith(" has ended\n")
