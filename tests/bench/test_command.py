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


BAD = """
- name: Bad
  workloadTemplate:
  - {opcode: createNodes, count: 5}
  - {opcode: createVolcanoes, count: 1}
  workloads: [{name: 5Nodes}, {name: 10Nodes}]
- name: Gated
  featureGates: {DRANodeAllocatableResources: true}
  workloadTemplate: [{opcode: createNodes, count: 5}]
  workloads: [{name: 5Nodes}]
"""


@pytest.mark.slow
def test_cases_that_cannot_run_do_not_stop_the_others(file, capsys):
    bad = file(BAD, "bad.yaml")

    status = main(["bench", bad, file(GOOD), "--runs", "1", "-o", "json"])

    out, err = capsys.readouterr()
    assert status == 1
    names = [json.loads(line)["name"] for line in out.splitlines()]
    assert names == ["Case/5Nodes", "Case/10Nodes"]
    of_ops, of_gates = err.splitlines()
    where = f"podium: {bad}: Bad.workloadTemplate[1] (line 5): no operation has opcode"
    assert of_ops.startswith(f'{where} "createVolcanoes"')
    assert f"{bad}: Gated.featureGates (line 8): DRANodeAllocatableResources=true" in of_gates


def test_cases_that_are_not_chosen_are_not_reported(file, capsys):
    status = main(["bench", file(BAD), "--workload", "Gated/*"])

    assert status == 1
    assert "Bad" not in capsys.readouterr().err


@pytest.mark.slow
def test_parameters_can_be_overridden(file, capsys):
    status = main(["bench", file(GOOD), "--runs", "1", "-o", "json", "--param", "pods=3"])

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 0
    assert [(line["nodes"], line["pods"]) for line in lines] == [(5, 3), (10, 3)]


def test_an_unknown_parameter_names_those_that_there_are(file, capsys):
    status = main(["bench", file(GOOD), "--param", "measurePods=3"])

    assert status == 2
    message = "--param: no chosen workload has measurePods; there are: nodes, pods"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["pods", "=3"])
def test_a_parameter_needs_a_name_and_a_value(file, text, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", file(GOOD), "--param", text])

    assert stopped.value.code == 2
    assert "must be NAME=VALUE" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "word"), [("1", "reached"), ("1e9", "missed")])
def test_thresholds_stand_beside_the_result(file, threshold, word, capsys):
    text = GOOD.replace("{name: 5Nodes,", f"{{name: 5Nodes, threshold: {threshold},")

    status = main(["bench", file(text), "--runs", "1", "--workload", "*/5Nodes"])

    assert status == 0
    assert capsys.readouterr().out.rstrip().endswith(word)


@pytest.mark.slow
def test_gates_configuration_and_release_of_a_workload(file, capsys):
    version = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    file(f"{version}profiles: [{{schedulerName: mine}}]\n", "scheduler.yaml")
    file("{kind: Pod, spec: {schedulerName: mine, containers: [{name: app}]}}", "pod.yaml")
    text = GOOD.replace(
        "- name: Case\n",
        "- name: Case\n  schedulerConfigPath: scheduler.yaml\n"
        "  defaultPodTemplatePath: pod.yaml\n"
        "  featureGates: {OpportunisticBatching: false, SchedulerQueueingHints: true}\n",
    )
    argv = ["bench", file(text), "--runs", "1", "--workload", "*/5Nodes"]

    assert main([*argv, "--kubernetes-version", "1.36"]) == 0
    assert main(argv) == 1
    assert "unrecognized feature gate: SchedulerQueueingHints" in capsys.readouterr().err


def test_a_pattern_without_match_names_what_there_is(file, capsys):
    status = main(["bench", file(GOOD), "--workload", "Basic/*"])

    assert status == 2
    assert "Case/10Nodes" in capsys.readouterr().err


@pytest.mark.parametrize("runs", ["0", "-1", "many"])
def test_bad_number_of_runs(file, runs, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", file(GOOD), "--runs", runs])

    assert stopped.value.code == 2
