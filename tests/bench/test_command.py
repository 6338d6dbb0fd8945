"""The command: what it prints, where, and with which status."""

import json

import pytest

from podium.bench.result import Result
from podium.cli import main

GOOD = """
- name: Case
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
  - {opcode: createPods, countParam: $pods, collectMetrics: true}
  workloads:
  - {name: 5Nodes, params: {nodes: 5, pods: 10}}
  - {name: 10Nodes, params: {nodes: 10, pods: 20}}
"""
FULL = """
- name: Full
  workloadTemplate:
  - {opcode: createNodes, count: 1, nodeAllocatableStrategy: {nodeAllocatable: {pods: '2'}}}
  - {opcode: createPods, count: 3, collectMetrics: true}
  workloads: [{name: 1Nodes}]
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="case.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.slow
def test_json_is_one_object_per_workload(file, capsys):
    status = main(["bench", file(GOOD), "--runs", "1", "-o", "json"])

    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert err == ""
    assert [line["name"] for line in lines] == ["Case/5Nodes", "Case/10Nodes"]
    assert [line["pods"] for line in lines] == [10, 20]
    assert all(set(line) == set(Result.__struct_fields__) for line in lines)


@pytest.mark.slow
def test_text_is_a_header_and_a_line_per_workload(file, capsys):
    main(["bench", file(GOOD), "--runs", "1", "--workload", "*/5Nodes"])

    header, *rows = capsys.readouterr().out.splitlines()
    assert header.startswith("workload")
    assert [row.split()[0] for row in rows] == ["Case/5Nodes"]


@pytest.mark.slow
def test_failed_workloads_do_not_stop_the_others(file, capsys):
    files = [file(FULL, "full.yaml"), file(GOOD)]

    status = main(["bench", *files, "--runs", "1", "-o", "json", "--workload", "*/[15]Nodes"])

    out, err = capsys.readouterr()
    assert status == 1
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["Case/5Nodes"]
    assert "podium: Full/1Nodes: createPods: 1 of the pods found no node" in err


@pytest.mark.slow
def test_where_all_fail_there_is_no_header(file, capsys):
    assert main(["bench", file(FULL), "--runs", "1"]) == 1

    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_failures_before_the_first_row_leave_the_header_above_it(file, capsys):
    files = [file(FULL, "full.yaml"), file(GOOD)]

    assert main(["bench", *files, "--runs", "1"]) == 1

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["workload", "Case/5Nodes", "Case/10Nodes"]


def test_bad_files_are_all_named_and_nothing_runs(file, capsys):
    files = [file(GOOD), file("[", "broken.yaml"), file("- {name: A}", "half.yaml")]

    status = main(["bench", *files])

    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert "broken.yaml has 1 problem" in err
    assert "half.yaml has 2 problems" in err


def test_a_pattern_without_match_names_what_there_is(file, capsys):
    status = main(["bench", file(GOOD), "--workload", "Basic/*"])

    assert status == 2
    assert "Case/10Nodes" in capsys.readouterr().err


@pytest.mark.parametrize("runs", ["0", "-1", "many"])
def test_bad_number_of_runs(file, runs, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", file(GOOD), "--runs", runs])

    assert stopped.value.code == 2
