"""Two schedulers with names and leases of their own on one cluster, and who binds which pod.

Played on the embedded cluster by `tests/live`, and on a real control plane here.
"""

import json
import sys

from podium.release import LATEST
from tests.support.control_plane.processes import Scheduler, configuration
from tests.support.control_plane.stage import Stage

FIRST, SECOND, NOBODY = "default-scheduler", "second", "nobody"
PODS_EACH = 20


def second(folder, kubeconfig, *flags, release=LATEST):
    """podium under another name than `schedulers.podium`, whose lease it does not touch."""
    settings = configuration(kubeconfig)
    settings["profiles"] = [{"schedulerName": SECOND}]
    settings["leaderElection"]["resourceName"] = SECOND
    path = folder / f"{SECOND}.json"
    path.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "podium", "scheduler", f"--config={path}"]
    options = ["--secure-port=0", f"--emulated-version={release}"]
    return Scheduler([*command, *options, *flags], folder / f"{SECOND}.log")


def play(side):
    """Pods for either, in turns, on the same nodes; who told of them, by the chosen scheduler."""
    stage = Stage(side, "side-by-side")
    stage.ready_nodes("a", "b", "c")
    stage.pod("stranger", schedulerName=NOBODY)
    chosen = {
        f"{scheduler}-{number}": scheduler
        for number in range(PODS_EACH)
        for scheduler in (FIRST, SECOND)
    }
    for name, scheduler in chosen.items():
        stage.pod(name, schedulerName=scheduler)
    for name in chosen:
        stage.until_told(name, "Scheduled")
    told = {FIRST: set(), SECOND: set(), NOBODY: set(stage.told("stranger"))}
    for name, scheduler in chosen.items():
        told[scheduler].update(who for who, *_ in stage.told(name))
    return told, stage.outcome("stranger")


def check(told, stranger):
    """Each has bound its own pods and said nothing about the other's."""
    assert told == {FIRST: {FIRST}, SECOND: {SECOND}, NOBODY: set()}
    assert stranger == {"node": None, "nominated": None, "conditions": []}
