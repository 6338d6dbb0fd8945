"""``podium plugin`` and the options around it, as a user runs them."""

import json
import subprocess
import sys

import pytest

from podium.cli import plugin_template
from tests.support.commands import Shell

SCORE = """
import podium

@podium.score(weight=3)
def third(node):
    return 0
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: one
- schedulerName: two
  plugins: {multiPoint: {disabled: [{name: third}]}}
"""


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path / "home")


# --- new -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("Rack", "rack.py and test_rack.py"),
        ("EmptiestRack", "emptiest_rack.py and test_emptiest_rack.py"),
        ("GPUPacking", "gpu_packing.py and test_gpu_packing.py"),
        ("Top10", "top10.py and test_top10.py"),
    ],
)
def test_new_writes_two_files(shell, write, name, files):
    assert shell.out("plugin", "new", name).startswith(f"wrote {files}\n")


@pytest.mark.slow
def test_what_new_writes_passes_its_own_test(shell, write, tmp_path):
    shell.out("plugin", "new", "EmptiestRack")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    assert "3 passed" in done.stdout, done.stdout
    shell.out("plugin", "list", "--plugin", "emptiest_rack.py")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpu-packing", "such as GpuPacking"),
        ("rack", "such as Rack"),
        ("3D", "such as D"),
        ("../Rack", "such as Rack"),
        ("", "such as EmptiestRack"),
        ("NodeName", "podium: NodeName is a plugin of podium: choose another name"),
    ],
)
def test_new_refuses_a_name(shell, write, name, expected):
    done = shell.run("plugin", "new", name)

    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.parametrize("there", ["rack.py", "test_rack.py"])
def test_new_overwrites_nothing(shell, write, there, tmp_path):
    write("mine", there)
    done = shell.run("plugin", "new", "Rack")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"podium: {there} exists already: choose another name or move it\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [there]


def test_new_says_when_it_cannot_write(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        plugin_template.PodiumError, match=r"rack\.py: cannot be written: Not a dir"
    ):
        plugin_template.write("Rack", tmp_path / "file")


# --- list ----------------------------------------------------------------------------------------


def test_list(shell, write):
    lines = shell.table("plugin", "list", "--plugin", write(SCORE))

    assert lines[0] == ["PLUGIN", "FROM", "PROFILE", "WEIGHT", "POINTS"]
    assert lines[1] == ["third", "--plugin", "rack.py", "default-scheduler", "3", "score"]
    where, arguments = lines[: lines.index([])], lines[lines.index([]) + 1 :]
    by_name = {line[0]: line for line in where}
    assert by_name["NodeName"][1:] == ["podium", "default-scheduler", "-", "preFilter,", "filter"]
    assert by_name["NodeLabel"][1:] == ["podium", "-", "-", "filter,", "score"]
    assert arguments[:3] == [
        ["PLUGIN", "PROFILE", "ARGUMENTS"],
        ["DefaultPreemption", "default-scheduler", "minCandidateNodesPercentage:", "10"],
        ["minCandidateNodesAbsolute:", "100"],
    ]
    assert ["bindingTimeout:", '"10m0s"'] in arguments  # as in a file


def test_list_is_no_wider_in_a_pipe_than_people_read(shell, write):
    lines = shell.out("plugin", "list", "--plugin", write(SCORE)).splitlines()

    assert max(map(len, lines)) <= 120


def test_list_by_profile(shell, write):
    write(SCORE)
    rows = json.loads(
        shell.out(
            "plugin", "list", "-o", "json",
            "--plugin", "rack.py", "--config", write(CONFIG, "config.yaml"),
        )
    )  # fmt: skip
    third = [row for row in rows if row["name"] == "third"]
    fit = [row for row in rows if row["name"] == "NodeResourcesFit"]

    assert third == [
        {
            "name": "third", "origin": "--plugin rack.py", "source": "rack.py, function third",
            "points": ["score"], "profile": "one", "weight": 3, "args": None, "trouble": "",
        }
    ]  # fmt: skip
    assert [row["profile"] for row in fit] == ["one", "two"]
    assert fit[0]["args"]["scoringStrategy"]["type"] == "LeastAllocated"


# --- what other commands make of --plugin --------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("plugin", "list"),
        ("config", "show"),
        ("config", "diff", "x.yaml"),
        ("up",),
        ("scheduler", "--master", "http://127.0.0.1:1"),
    ],
    ids=" ".join,
)
def test_every_command_tells_what_is_wrong_with_a_plugin(shell, write, command):
    done = shell.run(*command, "--plugin", write("def f(:"))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("podium: --plugin rack.py: line 1: ")


def test_config_shows_where_a_plugin_comes_from(shell, write):
    lines = shell.table("config", "show", "--plugin", write(SCORE))

    assert ["third", "3", "--plugin"] in lines


def test_config_diff_tells_of_a_plugin(shell, write):
    write(SCORE)
    only_two = CONFIG.replace("- schedulerName: one\n", "")
    done = shell.run("config", "diff", write(only_two, "config.yaml"), "--plugin", "rack.py")

    assert done.returncode == 1
    assert "profiles[two].plugins.score\n  - third\n" in done.stdout


def test_watch_needs_a_file(shell, write):
    done = shell.run("up", "--watch")

    assert done.returncode == 2
    assert done.stderr.startswith("podium: --watch watches files, but there is no --plugin")


# --- stats ---------------------------------------------------------------------------------------


def test_stats_without_a_scheduler(shell, write):
    done = shell.run("plugin", "stats", "--server", "http://127.0.0.1:9")

    assert done.returncode == 2
    assert done.stderr.startswith(
        "podium: no scheduler answers at http://127.0.0.1:9/debug/plugins: Connection refused; "
    )
    assert "podium up" in done.stderr


@pytest.mark.parametrize("server", ["nowhere", "ftp://x", "http://[", "file:///etc"])
def test_stats_of_what_is_no_address(shell, write, server):
    done = shell.run("plugin", "stats", "--server", server)

    assert done.returncode == 2
    assert done.stderr.startswith("podium: no scheduler answers at ")


@pytest.mark.parametrize("action", ["new", "list", "stats"])
def test_help_has_examples_of_its_own(shell, action):
    (_, examples) = shell.out("plugin", action, "--help").split("examples:\n")

    assert examples.strip()
    assert all(line.startswith(f"  podium plugin {action}") for line in examples.splitlines())
