"""``podium replay`` as a user runs it."""

import csv
import io
import json
import os
import signal
from xml.etree import ElementTree

import pytest

from podium.cli.completion import suggestions
from tests.support.commands import Shell
from tests.support.replay import END, HEADER, arrive, nodes, text

SVG = "{http://www.w3.org/2000/svg}"
LINES = (
    HEADER,
    nodes(count=3),
    *(arrive(f"p{n}", n, cpu="2", duration=9, priority=n % 2) for n in range(20)),
    END,
)

# A plugin that never returns, and says when it begins.
ENDLESS = """
import os, threading
from podium import framework as fwk

class Endless(fwk.FilterPlugin):
    name = "Endless"
    def filter(self, state, pod, node):
        os.write(1, b"begins\\n")  # one write: the lines of two processes cannot mix
        threading.Event().wait()
"""

BOOM = """
from podium import framework as fwk

class Boom(fwk.FilterPlugin):
    name = "Boom"
    def filter(self, state, pod, node):
        raise ValueError("no rack \\x1b[31m")
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.jsonl").write_text(text(*LINES))
    kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    (tmp_path / "a.yaml").write_text(kind)
    (tmp_path / "b.yaml").write_text(kind + "podMaxBackoffSeconds: 60\n")
    return Shell(tmp_path)


def replay(shell, *args):
    return shell.run("replay", "trace.jsonl", "--jobs", "1", *args)


def test_configurations_side_by_side(shell):
    done = replay(shell, "--config", "a.yaml", "--config", "b.yaml", "--seed", "0-1")

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["a.yaml", "b.yaml"]
    assert lines[1].split() == ["arrivals", "20", "20"]
    assert lines[-1] == "means over 2 seeds"


def test_json_has_a_line_for_each_variant(shell):
    done = replay(shell, "--config", "a.yaml", "--config", "b.yaml", "--seed", "3-4", "-o", "json")

    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["configuration"], one["seed"]) for one in found] == [
        ("a.yaml", 3), ("a.yaml", 4), ("b.yaml", 3), ("b.yaml", 4),
    ]  # fmt: skip
    assert found[0]["figures"]["arrivals"] == 20
    assert len(found[0]["samples"]) > 100


def test_csv_has_a_row_for_each_variant(shell):
    done = replay(shell, "--seed", "0-2", "-o", "csv")

    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["seed"] for row in rows] == ["0", "1", "2"]
    assert all(float(row["wait.max"]) >= float(row["wait.mean"]) >= 0 for row in rows)


def test_the_plot_is_a_picture_of_all_measures(shell, tmp_path):
    done = replay(shell, "--config", "a.yaml", "--config", "b.yaml", "--plot", "out.svg")

    assert done.returncode == 0
    root = ElementTree.parse(tmp_path / "out.svg").getroot()
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"a.yaml", "b.yaml", "pods that wait", "cpu used", "evictions so far"} <= set(texts)
    assert len(list(root.iter(f"{SVG}polyline"))) == 2 * 6


def test_png(shell, tmp_path):
    pytest.importorskip("resvg_py", reason="the extra png is not installed")

    done = replay(shell, "--plot", "out.png")

    if done.returncode:  # a machine without fonts
        assert "needs a font" in done.stderr
    else:
        assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_any_number_of_jobs_prints_the_same(shell):
    one = replay(shell, "--seed", "0-3", "-o", "json")

    two = shell.process("replay", "trace.jsonl", "--seed", "0-3", "-o", "json", "--jobs", "2")

    assert (two.returncode, two.stdout, two.stderr) == (0, one.stdout, "")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(["nowhere.jsonl"], "nowhere.jsonl has 1 problem\n  cannot be", id="no-file"),
        pytest.param(["trace.jsonl", "--config", "no.yaml"], "no.yaml has 1 problem", id="config"),
        pytest.param(["trace.jsonl", "--seed", "5-2"], "must be a number or a range", id="seeds"),
        pytest.param(["trace.jsonl", "--seed", "x"], "must be a number from 0", id="no-seed"),
        pytest.param(["trace.jsonl", "--jobs", "0"], "must be a number from 1", id="jobs"),
        pytest.param(["trace.jsonl", "--plot", "a.gif"], "must end with .svg or .png", id="plot"),
        pytest.param(["trace.jsonl", "--plot", "x/a.svg"], "there is no folder x", id="folder"),
        pytest.param(["trace.jsonl", "--plugin", "x.py"], "cannot be read", id="plugin"),
        pytest.param(["trace.jsonl", "--attempt-time=-1s"], "must be from 0s to 1h", id="time"),
        pytest.param(["trace.jsonl", "--attempt-time=9h"], "must be from 0s to 1h", id="long"),
        pytest.param(["trace.jsonl", "--dask", ""], "must not be empty", id="no-dask-address"),
        pytest.param(
            ["trace.jsonl", "--dask", "tcp://127.0.0.1:9"], "no Dask scheduler answers", id="dask"
        ),
        pytest.param([""], "FILE: must not be empty", id="no-name"),
        pytest.param(["/dev/zero"], "cannot be read: not a file or a pipe", id="device"),
        pytest.param(["convert", "x"], "--from", id="convert-from-what"),
        pytest.param(
            ["convert", "x", "--from", "simkub", "-o", "y"], "invalid choice", id="format"
        ),
        pytest.param(
            ["convert", "trace.jsonl", "--from", "google-2019", "-o", "y"], "columns", id="tables"
        ),
        pytest.param(
            ["convert", "x", "--from", "google-2019", "-o", "no/y"], "no folder no", id="output"
        ),
    ],
)
def test_bad_input(shell, args, expected):
    done = shell.run("replay", *args)

    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stdout == ""


def test_a_plugin_that_raises_is_logged_once_and_its_errors_are_counted(shell, tmp_path):
    (tmp_path / "boom.py").write_text(BOOM)

    done = shell.process("replay", "trace.jsonl", "--jobs", "1", "--plugin", "boom.py")

    assert done.returncode == 0
    assert done.stderr.count("Traceback") == 1
    assert "event loop" not in done.stderr
    assert "\x1b" not in done.stderr
    assert "the plugin failed again plugin='Boom' point='Filter' times=" in done.stderr
    rows = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines()[1:])
    assert int(rows["attempts with an error"]) == int(rows["attempts"]) > 0


@pytest.mark.slow
def test_ctrl_c_ends_replays_in_other_processes(shell, tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    process = shell.start(
        "replay", "trace.jsonl", "--seed", "0-3", "--jobs", "2", "--plugin", "endless.py",
        start_new_session=True,
    )  # fmt: skip
    try:
        assert [process.line(), process.line()] == ["begins\n", "begins\n"]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: also to its children
        out, err = process.communicate(timeout=30)
    finally:
        process.end()

    assert (process.returncode, out, err) == (130, "", "")


def test_convert(shell, tmp_path):
    (tmp_path / "nodes.csv").write_text("sn,cpu_milli,memory_mib,gpu,model\nn,8000,1024,0,\n")
    header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,scheduled_time\n"
    (tmp_path / "pods.csv").write_text(f"{header}a,1000,1,0,0,5,5\n")

    done = shell.run(
        "replay", "convert", "--from", "alibaba-gpu-2023", "nodes.csv", "pods.csv", "-o", "t.jsonl"
    )

    assert (done.returncode, done.stdout) == (0, "wrote 1 arrivals to t.jsonl\n")
    assert shell.run("replay", "t.jsonl").returncode == 0


def test_completion_offers_convert_and_its_options():
    from podium.cli import build_parser

    first = suggestions(build_parser(), ["replay", "c"])
    options = suggestions(build_parser(), ["replay", "convert", "--fr"])

    assert first == ["convert\tmake a trace from published tables", ":files"]
    assert [option.partition("\t")[0] for option in options] == ["--from"]
