"""What `podium scheduler` does with its flags: other parts for gates, and files it writes."""

import argparse
import json
from importlib.metadata import version

import pytest
import yaml

from podium import config
from podium.app.feature_gates import LiveOptions
from podium.app.own_plugins import COMPARISON, in_tree_with_legacy
from podium.cli import main
from podium.cli.arguments.scheduler_flags import Given
from podium.cli.scheduler_configuration import check, configure
from podium.client.api_client import ApiClient, SingleTryBindings
from podium.config.feature_gates import FeatureGates
from podium.errors import ConfigError
from podium.live.binding import Binder, QuietBinder
from podium.plugins.volume.binding import ScoringVolumeBinding
from podium.queue.patient_queue import PatientQueue
from podium.queue.scheduling_queue import SchedulingQueue
from podium.release import V1_36, V1_37
from podium.testing.handle import FakeHandle
from tests.cli.test_scheduler_flags import FILE, REGISTRY, effective, given

KEYS = "MatchLabelKeysInPodTopologySpread"


@pytest.mark.parametrize(
    ("gate", "part", "usual", "other"),
    [
        ("SchedulerPopFromBackoffQ", "queue", SchedulingQueue, PatientQueue),
        ("NominatedNodeNameForExpectation", "binder", Binder, QuietBinder),
        ("OpportunisticBatching", "reuses", True, False),
        ("WatchListClient", "streams_lists", True, False),
    ],
)
def test_gates_choose_parts(gate, part, usual, other):
    assert getattr(LiveOptions(), part) is usual
    assert getattr(LiveOptions(FeatureGates(chosen={gate: False})), part) is other


@pytest.mark.parametrize(("release", "client"), [(V1_36, SingleTryBindings), (V1_37, ApiClient)])
def test_the_release_chooses_whether_bindings_are_sent_again(release, client):
    assert LiveOptions(FeatureGates(release)).client is client


def test_gates_choose_plugins():
    usual = in_tree_with_legacy(FeatureGates(V1_36))
    gated = in_tree_with_legacy(
        FeatureGates(V1_36, {"StorageCapacityScoring": True, "NodeDeclaredFeatures": False})
    )

    assert set(usual) - set(gated) == {"NodeDeclaredFeatures"}
    assert set(usual) == set(REGISTRY)
    assert gated.args_type("VolumeBinding") is ScoringVolumeBinding.Args


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param({}, (True, False), id="neither"),
        pytest.param({KEYS: False}, (False, False), id="one"),
        pytest.param({COMPARISON: True}, (True, True), id="the-other"),
        pytest.param({KEYS: False, COMPARISON: True}, (False, True), id="both"),
    ],
)
def test_gates_of_one_plugin_are_independent(chosen, expected):
    entry = in_tree_with_legacy(FeatureGates(chosen=chosen)).entry("PodTopologySpread")
    handle = FakeHandle()

    plugin = entry.build(entry.args(), handle)

    assert (plugin.uses_match_label_keys, plugin.compares_tolerations) == expected


def test_a_plugin_behind_a_gate_that_is_off_does_not_run(tmp_path):
    path = tmp_path / "scheduler.yaml"
    plugins = "{filter: {enabled: [{name: NodeDeclaredFeatures}]}}"
    path.write_text(f"{FILE}profiles: [{{plugins: {plugins}}}]\n")
    flags = given(f"--config={path}")
    gates = FeatureGates(V1_36, {"NodeDeclaredFeatures": False})

    [profile] = configure(flags, in_tree_with_legacy(gates), gates).configuration.profiles
    assert "NodeDeclaredFeatures" not in {n for names in profile.plugins.values() for n in names}


# --- the command ---------------------------------------------------------------------------------


def test_write_config_to(tmp_path, capsys):
    path = tmp_path / "written.yaml"
    words = ["--kubeconfig=F", "--leader-elect-lease-duration=20s", f"--write-config-to={path}"]
    assert main(["scheduler", *words]) == 0

    found = yaml.safe_load(path.read_text())
    assert found["clientConnection"]["kubeconfig"] == "F"
    assert found["leaderElection"]["leaseDuration"] == "20s"
    assert len(found["profiles"][0]["plugins"]["multiPoint"]["enabled"]) == 20
    assert config.load_file(path, REGISTRY) == effective(*words[:2])


def test_write_config_to_with_gates(tmp_path):
    path = tmp_path / "written.yaml"
    gates = "StorageCapacityScoring=true"
    flags = ["--emulated-version=1.36", f"--feature-gates={gates}", f"--write-config-to={path}"]
    assert main(["scheduler", *flags]) == 0

    [profile] = yaml.safe_load(path.read_text())["profiles"]
    args = {entry["name"]: entry["args"] for entry in profile["pluginConfig"]}
    assert args["VolumeBinding"]["shape"] == [
        {"score": 10, "utilization": 0},
        {"score": 0, "utilization": 100},
    ]
    assert len(profile["plugins"]["multiPoint"]["enabled"]) == 20
    assert "podGroupPostFilter" not in profile["plugins"]


def test_write_config_to_nowhere(tmp_path, capsys):
    path = tmp_path / "missing" / "written.yaml"

    assert main(["scheduler", f"--write-config-to={path}"]) == 2
    assert f"{path} has 1 problem\n  cannot be written" in capsys.readouterr().err


def test_what_is_shown_of_a_configuration_that_v1_cannot_express(tmp_path):
    path = tmp_path / "policy.json"
    policy = {"kind": "Policy", "apiVersion": "v1", "alwaysCheckAllPredicates": True}
    path.write_text(json.dumps(policy))
    flags = given(f"--config={path}")
    configured = configure(flags, REGISTRY, check(flags))

    assert configured.shown()["componentconfig"]["alwaysCheckAllPredicates"] is True
    with pytest.raises(ConfigError, match="alwaysCheckAllPredicates"):
        configured.written()


@pytest.mark.parametrize("word", ["--version", "--version=true", "--version=raw"])
def test_version(word, capsys):
    assert main(["scheduler", word]) == 0
    assert capsys.readouterr().out == f"podium {version('podium')}, as kube-scheduler v1.37\n"


def test_flags_of_the_whole_command_are_not_those_of_the_scheduler():
    assert dict(Given(argparse.Namespace(version=None, command="scheduler"))) == {}
