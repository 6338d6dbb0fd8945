"""Reading workload files: parameters, defaults, and every problem at once."""

from pathlib import Path

import pytest

from podium.bench.load import load_file
from podium.bench.ops import (
    Barrier,
    Churn,
    CreateMixedPods,
    CreateNodes,
    CreatePods,
    CreatePodSets,
    Sleep,
)
from podium.errors import ConfigError

POD = "kind: Pod\nspec: {containers: [{name: app}]}\n"


@pytest.fixture
def case(tmp_path):
    """Load a file of one case with this template and these parameters."""

    def load(template, params="{}", head="", **templates):
        for name, text in templates.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        path = tmp_path / "case.yaml"
        path.write_text(
            f"- name: Case\n{head}"
            f"  workloadTemplate: {template}\n"
            f"  workloads: [{{name: Small, params: {params}}}]\n"
        )
        return load_file(path)

    return load


def one_op(workloads):
    return workloads[0].ops[0]


def problems(load, *args, **kwargs):
    """The problems of the one workload, which does not stop the others of its file."""
    (workload,) = load(*args, **kwargs)
    return [str(problem) for problem in workload.problems]


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


@pytest.mark.parametrize(
    ("template", "params", "expected"),
    [
        pytest.param(
            "[{opcode: createNode, count: 1}]",
            "{}",
            'Case.workloadTemplate[0] (line 2): no operation has opcode "createNode"; '
            'did you mean "createNodes"?',
            id="unknown-opcode",
        ),
        pytest.param(
            "[{count: 1}]", "{}", "Case.workloadTemplate[0] (line 2): no operation", id="no-opcode"
        ),
        pytest.param("[5]", "{}", "Case.workloadTemplate[0]", id="no-operation"),
        pytest.param(
            "[{opcode: createNodes}]",
            "{}",
            "Case.workloadTemplate[0].count (line 2): Required value",
            id="no-count",
        ),
        pytest.param(
            "[{opcode: createNodes, count: -1}]",
            "{}",
            "Case.workloadTemplate[0].count (line 2): Invalid value: -1: must be an integer",
            id="negative-count",
        ),
        pytest.param(
            "[{opcode: createNodes, countParam: $nodes}]",
            "{node: 1}",
            "Case.workloads[0].params (line 3): workloadTemplate[0].countParam needs parameter "
            'nodes; did you mean "node"?',
            id="missing-parameter",
        ),
        pytest.param(
            "[{opcode: createNodes, countParam: $nodes}]",
            "{nodes: many}",
            'Case.workloads[0].params.nodes (line 3): Invalid value: "many": must be an integer',
            id="bad-parameter",
        ),
        pytest.param(
            "[{opcode: createNodes, countParam: nodes}]",
            "{nodes: 1}",
            "Case.workloadTemplate[0].countParam (line 2): Invalid value",
            id="parameter-without-dollar",
        ),
        pytest.param(
            "[{opcode: createNodes, count: 1, size: 2}]",
            "{}",
            'Case.workloadTemplate[0].size (line 2): unknown field "size"',
            id="unknown-field",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, podTemplatePath: none.yaml}]",
            "{}",
            "Case.workloadTemplate[0] (line 2): template none.yaml: cannot be read: No such file",
            id="unreadable-template",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, podTemplatePath: broken.yaml}]",
            "{}",
            "template broken.yaml: not readable as YAML",
            id="template-is-no-yaml",
        ),
        pytest.param(
            "[{opcode: createNodes, count: 1, nodeTemplatePath: pod.yaml}]",
            "{}",
            "template pod.yaml: is a Pod, not a Node",
            id="template-of-another-kind",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, podTemplatePath: secret.yaml}]",
            "{}",
            "template secret.yaml: no template can be of kind 'Secret'",
            id="template-of-no-use",
        ),
        pytest.param(
            "[{opcode: createPods, count: 2, podTemplatePath: named.yaml}]",
            "{}",
            "template named.yaml: has a fixed name",
            id="many-of-one-name",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, podTemplatePath: odd.yaml}]",
            "{}",
            "template odd.yaml: Pod",
            id="template-is-no-valid-object",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, collectMetrics: true, skipWaitToCompletion: true}]",
            "{}",
            "collectMetrics and skipWaitToCompletion exclude one another",
            id="measured-but-not-waited-for",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, collectMetrics: true, bindInTurn: true}]",
            "{}",
            "collectMetrics and bindInTurn exclude one another",
            id="measured-but-not-scheduled",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, pinInTurn: true, bindInTurn: true}]",
            "{}",
            "pinInTurn and bindInTurn exclude one another",
            id="pinned-but-not-scheduled",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, persistentVolumeTemplatePath: volume.yaml}]",
            "{}",
            "persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath go together",
            id="volume-without-claim",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, persistentVolumeTemplatePath: pod.yaml,"
            " persistentVolumeClaimTemplatePath: claim.yaml}]",
            "{}",
            "template pod.yaml: is a Pod, not a PersistentVolume",
            id="volume-of-another-kind",
        ),
        pytest.param(
            "[{opcode: createPodSets, count: 1, namespacePrefix: ns, createPodsOp: {opcode:"
            " createPods, count: 1, persistentVolumeTemplatePath: volume.yaml}}]",
            "{}",
            "persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath go together",
            id="set-with-volume-without-claim",
        ),
        pytest.param(
            "[{opcode: createMixedPods, createPodsOps: [{opcode: createPods, count: 1,"
            " collectMetrics: true}]}]",
            "{}",
            "pods in turn are measured, and waited for, together or not at all",
            id="one-of-a-mix-measured",
        ),
        pytest.param(
            "[{opcode: createMixedPods, createPodsOps: [{opcode: createPods, count: 1,"
            " podTemplatePath: none.yaml}]}]",
            "{}",
            "template none.yaml: cannot be read",
            id="unreadable-template-in-a-mix",
        ),
        pytest.param(
            "[{opcode: createMixedPods, createPodsOps: [{opcode: createPods, countParam: $n}]}]",
            "{n: some}",
            'Case.workloads[0].params.n (line 3): Invalid value: "some": must be an integer',
            id="bad-parameter-in-a-mix",
        ),
        pytest.param(
            "[{opcode: createMixedPods, createPodsOps: [{opcode: createPods, countParam: $n}]}]",
            "{}",
            "workloadTemplate[0].createPodsOps[0].countParam needs parameter n",
            id="missing-parameter-in-a-mix",
        ),
        pytest.param(
            "[{opcode: createMixedPods, createPodsOps: []}]",
            "{}",
            "createPodsOps must not be empty",
            id="mix-of-nothing",
        ),
        pytest.param(
            "[{opcode: createNodes, count: 1, nodeAllocatableStrategy: {csiNodeAllocatable:"
            " {disk.example.com: {count: few}}}}]",
            "{}",
            'Invalid value: "few": must be an integer',
            id="bad-limit-of-a-driver",
        ),
        pytest.param(
            "[{opcode: churn, mode: recreate, templatePaths: [pod.yaml]}]",
            "{}",
            "number must be at least 1",
            id="recreate-nothing",
        ),
        pytest.param(
            "[{opcode: churn, mode: delete, templatePaths: [pod.yaml]}]",
            "{}",
            'mode (line 2): Unsupported value: "delete"',
            id="unknown-churn",
        ),
        pytest.param(
            "[{opcode: sleep, duration: 5}]", "{}", "must be a duration", id="bad-duration"
        ),
        pytest.param("[]", "{}", "Case.workloadTemplate (line 2): must not be empty", id="empty"),
    ],
)
def test_bad_case(case, template, params, expected):
    templates = {
        "pod": POD,
        "broken": "{",
        "volume": "kind: PersistentVolume",
        "claim": "kind: PersistentVolumeClaim",
        "secret": "kind: Secret",
        "named": f"metadata: {{name: one}}\n{POD}",
        "odd": "kind: Pod\nspec: {priority: high}",
    }

    (problem,) = problems(case, template, params, **templates)

    assert expected in problem


def test_all_problems_at_once(case):
    found = problems(case, "[{opcode: no}, {opcode: createNodes}, {opcode: createPods}]")

    assert len(found) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "a workload file is a list of test cases", id="empty"),
        pytest.param("{}", "a workload file is a list of test cases", id="no-list"),
        pytest.param("[", "not readable as YAML", id="no-yaml"),
        pytest.param("- 5", "must be an object", id="case-is-no-object"),
        pytest.param("- {name: Case}", "workloadTemplate", id="case-without-template"),
        pytest.param(
            "- {name: Case, workloadTemplate: [{opcode: barrier}], workloads: []}",
            "Case.workloads (line 1): must not be empty",
            id="no-workloads",
        ),
        pytest.param(
            "- {name: A, workloadTemplate: [{opcode: barrier}], workloads: [{name: B}, {name: B}]}",
            "two workloads are named A/B",
            id="twice-the-same-name",
        ),
    ],
)
def test_bad_file(tmp_path, text, expected):
    path = tmp_path / "bad.yaml"
    path.write_text(text)

    with pytest.raises(ConfigError) as raised:
        load_file(path)
    assert any(expected in str(problem) for problem in raised.value.problems)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml has 1 problem\n  cannot be read"):
        load_file(tmp_path / "none.yaml")
