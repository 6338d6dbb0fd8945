"""Feature gates that are set otherwise than by default, with podium and with kube-scheduler.

Both play the same stories on a real control plane, and must do and say the same.
"""

import contextlib

import pytest

from podium.release import V1_37
from tests.support.control_plane import shipped, sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import USER, kube_scheduler
from tests.support.control_plane.stage import NODES, PRIORITIES, Stage

pytestmark = pytest.mark.cluster

ZONE = "topology.kubernetes.io/zone"
GATES = {
    "SchedulerAsyncAPICalls": True,
    "SchedulerAsyncPreemption": False,
    "TaintTolerationComparisonOperators": True,
    "MatchLabelKeysInPodTopologySpread": False,
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": False,
    "WatchListClient": False,
    "PodLevelResources": False,
    "InPlacePodLevelResourcesVerticalScaling": False,
}
# These need pod-level resources; the scheduler does not read them.
OF_LATER_RELEASES = ("PodLevelResourcesFixDefaulting", "PodLevelResourcesFixKubeletQOSClass")
# The API server must let pods through as they are written.
OF_THE_API_SERVER = {
    "TaintTolerationComparisonOperators": True,
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": False,
}


def flag(gates):
    settings = ",".join(f"{name}={str(value).lower()}" for name, value in gates.items())
    return f"--feature-gates={settings}"


@contextlib.contextmanager
def scheduled(binaries, start):
    """A control plane with one scheduler."""
    with ControlPlane(binaries, (flag(OF_THE_API_SERVER),)) as plane:
        side = sides.real(plane)
        with start(plane, side):
            yield Stage(side, "gates")


def test_podium_and_kube_scheduler_agree(binaries, podium, tmp_path):
    later = OF_LATER_RELEASES if binaries.release >= V1_37 else ()
    gates = flag(GATES | dict.fromkeys(later, False))

    def ours(plane, side):
        return podium(tmp_path, shipped.install(plane, side), gates)

    def theirs(plane, side):
        try:
            return kube_scheduler(binaries, tmp_path, plane.kubeconfig_for(USER), gates)
        except NoControlPlane as missing:
            pytest.skip(str(missing))

    with scheduled(binaries, theirs) as stage:
        expected = {name: play(stage) for name, play in STORIES.items()}
    with scheduled(binaries, ours) as stage:
        found = {name: play(stage) for name, play in STORIES.items()}

    assert found == expected
    assert expected["toleration"]["picky"]["node"] == "sla"
    assert expected["spreading"]["v2"]["node"] is None  # all versions are counted
    assert expected["preemption"]["nominated"] == "small"
    assert expected["pod-level"]["greedy"]["node"] == "roomy"  # it is said to ask for little


def preemption(stage):
    for name, value in (("low", 10), ("high", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    stage.nodes("small", cpu="1")
    stage.pod("victim", requests={"cpu": "1"}, priorityClassName="low")
    stage.until_bound("victim")
    boss = stage.pod("boss", requests={"cpu": "1"}, priorityClassName="high")
    stage.until(stage.core("pods"), "boss", lambda pod: pod["status"].get("nominatedNodeName"))
    stage.until_failed("boss")
    why = stage.outcome("boss")
    note = stage.until_told("victim", "Preempted").replace(boss["metadata"]["uid"], "UID")
    stage.delete(stage.core("pods/victim"))
    stage.until_told("boss", "Scheduled")
    found = {**why, "note": note, "then": stage.outcome("boss")}
    stage.clear()
    return found


def toleration(stage):
    stage.ready_nodes("sla")
    taint = {"key": "sla", "value": "950", "effect": "NoSchedule"}
    stage.patch(f"{NODES}/sla", {"spec": {"taints": [taint]}})
    return outcomes(
        stage,
        picky={"tolerations": [{"key": "sla", "operator": "Gt", "value": "900"}]},
        greedy={"tolerations": [{"key": "sla", "operator": "Gt", "value": "990"}]},
    )


def spreading(stage):
    for zone in ("z1", "z2"):
        stage.nodes(zone, **{ZONE: zone})
    stage.pod("v1", {"app": "s", "version": "v1"}, nodeSelector={ZONE: "z1"})
    stage.until_bound("v1")
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "s"}},
        "matchLabelKeys": ["version"],
        "nodeAffinityPolicy": "Ignore",
    }
    labels = {"app": "s", "version": "v2"}
    rest = {"topologySpreadConstraints": [constraint], "nodeSelector": {ZONE: "z1"}}
    return outcomes(stage, v2={"labels": labels, **rest})


def outcomes(stage, **pods):
    """What becomes of these pods, once it was told."""
    for name, spec in pods.items():
        stage.pod(name, **spec)
    for name in pods:
        stage.until(stage.core("pods"), name, lambda pod: pod["status"].get("conditions"))
    found = {name: stage.outcome(name) for name in pods}
    stage.clear()
    return found


def pod_level(stage):
    stage.nodes("roomy", cpu="2")
    return outcomes(stage, greedy={"resources": {"requests": {"cpu": "8"}}})


STORIES = {
    "preemption": preemption,
    "toleration": toleration,
    "spreading": spreading,
    "pod-level": pod_level,
}
