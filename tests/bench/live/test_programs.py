"""The schedulers that can be compared: what is wrong with a name or a path, and how they start."""

import json
from pathlib import Path

import pytest

from podium.bench.live.programs import (
    BIND_LOOP,
    LeaseName,
    Program,
    configuration,
    parse_programs,
)
from podium.errors import PodiumError


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
    command = Program("mine", ("scheduler",)).command(Path("c"), {"A": True, "B": False})

    assert command == [
        "scheduler",
        "--config=c",
        "--secure-port=0",
        "--feature-gates=A=true,B=false",
    ]


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
