"""`podium completion`: what is offered, and that a real bash offers it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from podium.cli import COMMANDS, build_parser, main
from podium.cli.completion import FILES, suggestions

PARSER = build_parser()


def words(*typed):
    return [each.partition("\t")[0] for each in suggestions(PARSER, typed)]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        pytest.param([""], list(COMMANDS), id="commands"),
        pytest.param(["co"], ["config", "conformance", "completion"], id="start-of-a-command"),
        pytest.param(["config", ""], ["validate", "show", "convert", "diff"], id="actions"),
        pytest.param(["get", "po"], ["poddisruptionbudgets", "pods"], id="kinds"),
        pytest.param(["get", "pods", "--w"], ["--watch"], id="option"),
        pytest.param(["get", "-A", "--w"], ["--watch"], id="after-an-option-without-a-value"),
        pytest.param(["get", "-o", ""], ["wide", "yaml", "json", "name"], id="choices"),
        pytest.param(["get", "-o", "j"], ["json"], id="start-of-a-choice"),
        pytest.param(["get", "--output=j"], ["--output=json"], id="choice-after-equals"),
        pytest.param(["completion", ""], ["bash", "zsh", "fish"], id="shells"),
        pytest.param(["apply", "-f", ""], [FILES], id="file"),
        pytest.param(["up", "--node-template=b"], [FILES], id="file-after-equals"),
        pytest.param(["config", "validate", "a.yaml", ""], [FILES], id="several-files"),
        pytest.param(["config", "diff", "a.yaml", ""], [FILES], id="second-file"),
        pytest.param(["config", "convert", "a.yaml", ""], [], id="no-second-file"),
        pytest.param(["up", "--nodes", ""], [], id="a-number"),
        pytest.param(["scheduler", "--tls-cert-f"], ["--tls-cert-file"], id="scheduler-flag"),
        pytest.param(["bench", "--run"], ["--runs"], id="no-hidden-option"),
        pytest.param(["nonsense", ""], list(COMMANDS), id="unknown-command"),
    ],
)
def test_suggestions(typed, expected):
    assert words(*typed) == expected


def test_suggestions_have_descriptions():
    (found,) = suggestions(PARSER, ["ver"])

    assert found.startswith("version\tprint the versions")


def test_a_shell_must_be_named(capsys):
    assert main(["completion"]) == 2
    assert capsys.readouterr().err == "podium: name a shell: bash, zsh, fish\n"


@pytest.fixture
def path(tmp_path):
    """A PATH where `podium` is this one, and a file name to complete."""
    program = tmp_path / "podium"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m podium "$@"\n')
    program.chmod(0o755)
    (tmp_path / "template.yaml").touch()
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


def run(shell, script, path):
    directory = Path(path.split(os.pathsep)[0])
    done = subprocess.run(
        [shell, "-c", script],
        env={**os.environ, "PATH": path},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("podium comp", ["completion"]),
        ("podium get -o ", ["wide", "yaml", "json", "name"]),
        ("podium get pods --output=j", ["json"]),
        ("podium up --nodes ", []),
    ],
)
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash(path, line, expected):
    script = f"""
    compopt() {{ :; }}  # works only while readline completes
    source <(podium completion bash)
    COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}}
    COMP_POINT=${{#COMP_LINE}}
    _podium
    echo "${{COMPREPLY[@]}}"
    """

    assert run("bash", script, path) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("podium comp", "completion"),
        ("podium up --node-template t", "template.yaml"),
    ],
)
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_fish(path, line, expected):
    script = f"podium completion fish | source; complete -C '{line}'"

    assert expected in run("fish", script, path)


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_reads_its_script(path):
    script = "autoload -U compinit; compinit -D; source <(podium completion zsh); whence -w _podium"

    assert run("zsh", script, path) == ["_podium:", "function"]
