"""The schedulers that can be compared: what is wrong with a name or a path, and how they start."""

import json
from pathlib import Path

import pytest

from podium.bench.live.programs import (
    BIND_LOOP,
    PODIUM,
    LeaseName,
    Program,
    configuration,
    parse_programs,
)
from podium.config.feature_gates import FeatureGates
from podium.errors import PodiumError, WorkloadFailed
from podium.release import V1_36


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "scheduler"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_path_and_the_loop(program):
    assert parse_programs([f"mine={program}", "bind-loop"]) == [
        Program("mine", (str(program),)),
        BIND_LOOP,
    ]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        pytest.param(["mine={missing}"], "{missing} does not exist", id="missing"),
        pytest.param(["mine={folder}"], "{folder} is a folder", id="folder"),
        pytest.param(["mine={plain}"], "{plain} is not executable", id="plain-file"),
        pytest.param(["podium={program}"], "the name 'podium' is already used", id="podium"),
        pytest.param(["a={program}", "a={program}"], "the name 'a' is already used", id="twice"),
        pytest.param(["bind-loop", "bind-loop"], "the name 'bind-loop' is", id="loop-twice"),
        pytest.param(["{program}"], "must be NAME=PATH", id="no-name"),
        pytest.param(["={program}"], "must be NAME=PATH", id="empty-name"),
        pytest.param(["mine="], "must be NAME=PATH", id="empty-path"),
    ],
)
def test_mistakes(texts, said, program):
    folder = program.parent
    plain = folder / "plain"
    plain.write_text("")
    paths = {"missing": folder / "missing", "folder": folder, "plain": plain, "program": program}

    with pytest.raises(PodiumError) as failure:
        parse_programs([text.format(**paths) for text in texts])

    assert said.format(**paths) in str(failure.value)


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(PodiumError) as failure:
        parse_programs(["mine", "podium=missing"])

    assert len(str(failure.value).splitlines()) == 3


def test_feature_gates_are_flags():
    gates = FeatureGates(V1_36, {"A": True, "B": False})
    flags = ["--config=c", "--secure-port=0", "--feature-gates=A=true,B=false"]

    assert Program("mine", ("scheduler",)).command(Path("c"), gates) == ["scheduler", *flags]
    assert PODIUM.command(Path("c"), gates)[-5:] == [
        *flags,
        "--emulated-version=1.36",
        "--logging-format=text",
    ]


def test_a_configuration_file_is_used_but_for_the_connection_and_the_election(tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text("{percentageOfNodesToScore: 7, leaderElection: {leaderElect: true}}")

    found = json.loads(configuration(Path("k"), None, file))

    assert found["percentageOfNodesToScore"] == 7
    assert found["kind"] == "KubeSchedulerConfiguration"
    assert found["leaderElection"] == {"leaderElect": False}
    assert found["clientConnection"]["kubeconfig"] == "k"


@pytest.mark.parametrize(
    ("text", "said"),
    [("a: [", "not readable as YAML"), ("a: 1\n---\nb: 2", "must have one document, not 2")],
)
def test_a_configuration_file_that_cannot_be_used(text, said, tmp_path):
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)

    with pytest.raises(WorkloadFailed) as failure:
        configuration(Path("k"), None, file)

    assert str(failure.value).startswith(f"{file}: {said}")


def test_the_configuration_names_the_lease():
    alone = json.loads(configuration(Path("k"), None))
    waiting = json.loads(configuration(Path("k"), LeaseName("bench", "drain-1")))

    assert alone["leaderElection"] == {"leaderElect": False}
    assert waiting["leaderElection"] == {
        "leaderElect": True,
        "resourceNamespace": "bench",
        "resourceName": "drain-1",
    }
    assert waiting["clientConnection"] == {"kubeconfig": "k", "qps": 5000, "burst": 5000}
