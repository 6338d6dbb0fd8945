"""Reading workload files: parameters, defaults, and every problem at once."""

from pathlib import Path

import pytest

from podium.bench.load import LoadOptions, load_file
from podium.bench.ops import (
    Barrier,
    Churn,
    CreateMixedPods,
    CreateNodes,
    CreatePods,
    CreatePodSets,
    Sleep,
)

POD = "kind: Pod\nspec: {containers: [{name: app}]}\n"


def one_op(workloads):
    return workloads[0].ops[0]


@pytest.mark.parametrize(
    ("op", "params", "field", "expected"),
    [
        pytest.param("createNodes, count: 5", "{}", "count", 5, id="count-as-written"),
        pytest.param("createNodes, countParam: $n", "{n: 7}", "count", 7, id="count-by-parameter"),
        pytest.param(
            "createNodes, countParam: $n, count: 5", "{n: 7}", "count", 7, id="parameter-wins"
        ),
        pytest.param(
            "createNodes, count: 5, countParam: $n", "{n: 7}", "count", 7, id="parameter-wins-last"
        ),
        pytest.param("createNodes, countParam: $n", "{n: 1e3}", "count", 1000, id="whole-float"),
        pytest.param("sleep, duration: 1m30s", "{}", "duration", 90.0, id="duration"),
        pytest.param("sleep, durationParam: $d", "{d: 2s}", "duration", 2.0, id="duration-param"),
        pytest.param("barrier", "{}", "stage_requirement", "Scheduled", id="barrier-default"),
        pytest.param("createPods, count: 1", "{}", "namespace", "namespace-0", id="own-namespace"),
        pytest.param("createPods, count: 1", "{}", "collect_metrics", False, id="not-measured"),
    ],
)
def test_fields_of_an_operation(case, op, params, field, expected):
    workloads = case(f"[{{opcode: {op}}}]", params)

    assert getattr(one_op(workloads), field) == expected


def test_parameters_reach_nested_operations(case):
    op = one_op(
        case(
            "[{opcode: createPodSets, countParam: $sets, namespacePrefix: ns,"
            " createPodsOp: {opcode: createPods, countParam: $pods}}]",
            "{sets: 2, pods: 3}",
        )
    )

    assert isinstance(op, CreatePodSets)
    assert (op.count, op.create_pods_op.count) == (2, 3)


def test_mixed_operations_are_completed_like_others(case):
    op = one_op(
        case(
            "[{opcode: createMixedPods, createPodsOps: [{opcode: createPods, countParam: $a},"
            " {opcode: createPods, countParam: $b, namespace: b, podTemplatePath: other.yaml}]}]",
            "{a: 2, b: 3}",
            head="  defaultPodTemplatePath: pod.yaml\n",
            pod=POD,
            other=POD,
        )
    )

    assert isinstance(op, CreateMixedPods)
    assert [
        (inner.count, inner.namespace, inner.pod_template_path) for inner in op.create_pods_ops
    ] == [(2, "namespace-0", "pod.yaml"), (3, "b", "other.yaml")]


def test_default_pod_template_fills_what_names_none(case):
    workloads = case(
        "[{opcode: createPods, count: 1},"
        " {opcode: createPods, count: 1, podTemplatePath: other.yaml}]",
        head="  defaultPodTemplatePath: pod.yaml\n",
        pod=POD,
        other=POD,
    )

    assert [op.pod_template_path for op in workloads[0].ops] == ["pod.yaml", "other.yaml"]


def test_every_kind_of_operation(case):
    workloads = case(
        "[{opcode: createNodes, count: 1, labelNodePrepareStrategy: {labelKey: zone,"
        "  labelValues: [a, b]}}, {opcode: createPods, count: 1}, {opcode: sleep, duration: 1s},"
        " {opcode: churn, mode: create, templatePaths: [pod.yaml]},"
        " {opcode: barrier, stageRequirement: Attempted}]",
        pod=POD,
    )

    kinds = [type(op) for op in workloads[0].ops]
    assert kinds == [CreateNodes, CreatePods, Sleep, Churn, Barrier]


def test_the_example_of_the_documentation(tmp_path):
    page = (Path(__file__).parents[2] / "docs/benchmarks.md").read_text()
    example = page.partition("```yaml\n")[2].partition("```")[0]
    path = tmp_path / "mine.yaml"
    path.write_text(example)

    (workload,) = load_file(path)

    assert workload.name == "Mine/500Nodes"
    assert [op.count for op in workload.ops] == [500, 1000]


def test_fields_for_the_test_runs_of_upstream_are_accepted(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "- name: Case\n  labels: [short]\n"
        "  metricsCollectorConfig: {metrics: {scheduler_a_total: [{label: b, values: [c]}]}}\n"
        "  workloadTemplate: [{opcode: createNodes, count: 1},"
        " {opcode: startCollectingProfile, type: CPU, filePath: a.prof},"
        " {opcode: stopCollectingProfile, type: CPU}]\n"
        "  workloads: [{name: Small, labels: [performance]}]\n"
    )

    (workload,) = load_file(path)

    assert (workload.name, workload.problems) == ("Case/Small", ())


def test_one_case_does_not_stop_the_others(tmp_path):
    path = tmp_path / "cases.yaml"
    path.write_text(
        "- {name: A, workloadTemplate: [{opcode: none}], workloads: [{name: a}, {name: b}]}\n"
        "- {name: B, workloadTemplate: [{opcode: barrier}], workloads: [{name: a}]}\n"
        "- {name: C, workloadTemplate: [{opcode: barrier}], workloads: [{name: a, size: 5}]}\n"
        "- {name: D, workloads: [{name: a}]}\n"
    )

    workloads = load_file(path)

    can_run = {workload.name: not workload.problems for workload in workloads}
    assert can_run == {"A/a": False, "A/b": False, "B/a": True, "C/a": False, "D/a": False}


@pytest.mark.parametrize(
    ("threshold", "selector", "expected"),
    [
        pytest.param("680", "", 680, id="number"),
        pytest.param("{dra: 40, other: 30}", "", 30, id="lowest-of-the-topics"),
        pytest.param("0", "", None, id="none"),
        pytest.param("680", "name: SchedulingThroughput, dataBucket: Average", 680, id="named"),
        pytest.param("5", "name: other, dataBucket: Perc99, expectLower: true", None, id="other"),
    ],
)
def test_thresholds(tmp_path, threshold, selector, expected):
    path = tmp_path / "case.yaml"
    chosen = f"  defaultThresholdMetricSelector: {{{selector}}}\n" if selector else ""
    path.write_text(
        f"- name: Case\n{chosen}  workloadTemplate: [{{opcode: barrier}}]\n"
        f"  workloads: [{{name: Small, threshold: {threshold}}}]\n"
    )

    (workload,) = load_file(path)

    assert workload.problems == ()
    assert (workload.threshold and workload.threshold.value) == expected


def test_gates_of_a_workload_override_those_of_its_case(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "- name: Case\n  featureGates: {SchedulerAsyncAPICalls: true,"
        " OpportunisticBatching: true}\n  workloadTemplate: [{opcode: barrier}]\n"
        "  workloads: [{name: Small, featureGates: {OpportunisticBatching: false}}]\n"
    )

    (workload,) = load_file(path)

    chosen = {"SchedulerAsyncAPICalls": True, "OpportunisticBatching": False}
    assert workload.gates.chosen == chosen


def test_parameters_of_templates(case):
    pod = "kind: Pod\nspec: {priority: {{.a}}, containers: [{name: 'x-{{.b}}-{{.c}}'}]}\n"
    (workload,) = case(
        "[{opcode: createPods, countParam: $n, countMultiplierParam: $m, podTemplatePath: pod.yaml,"
        " templateParams: {a: $n, b: '$missing|7', c: word}}]",
        "{n: 3, m: 2}",
        pod=pod,
    )

    (op,) = workload.ops
    assert (op.count, op.template_params) == (6, {"a": 3, "b": 7, "c": "word"})


def test_parameters_can_be_overridden(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "- name: Case\n  workloadTemplate: [{opcode: createNodes, countParam: $n}]\n"
        "  workloads: [{name: A, params: {n: 5}}]\n"
    )

    (workload,) = load_file(path, LoadOptions(params={"n": 2, "other": 1}))

    assert (workload.ops[0].count, workload.params) == (2, {"n": 2})
