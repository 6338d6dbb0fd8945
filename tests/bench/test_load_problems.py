"""What is wrong with workload files: of a case, which the others survive, or of the whole file."""

import pytest

from podium.bench.load import load_file
from podium.errors import ConfigError

POD = "kind: Pod\nspec: {containers: [{name: app}]}\n"


def problems(load, *args, **kwargs):
    """The problems of the one workload, which does not stop the others of its file."""
    (workload,) = load(*args, **kwargs)
    return [str(problem) for problem in workload.problems]


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
        pytest.param(
            "[{opcode: createPods, count: 1, steadyState: true}]",
            "{}",
            "steadyState needs a count and a duration above 0",
            id="steady-for-no-time",
        ),
        pytest.param(
            "[{opcode: createPods, count: 0, steadyState: true, duration: 1s}]",
            "{}",
            "steadyState needs a count and a duration above 0",
            id="steady-without-pods",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, steadyState: true, skipWaitToCompletion: true,"
            " duration: 1s}]",
            "{}",
            "steadyState and skipWaitToCompletion exclude one another",
            id="steady-but-not-waited-for",
        ),
        pytest.param(
            "[{opcode: stopCollectingMetrics}]",
            "{}",
            "there is no startCollectingMetrics before it",
            id="stop-without-start",
        ),
        pytest.param(
            "[{opcode: startCollectingMetrics, namespaces: [a]},"
            " {opcode: createPods, count: 1, collectMetrics: true}]",
            "{}",
            "Case.workloadTemplate[1] (line 2): metrics are already being collected",
            id="measured-twice",
        ),
        pytest.param(
            "[{opcode: startCollectingMetrics, namespaces: []}]",
            "{}",
            "namespaces must not be empty",
            id="nothing-collected",
        ),
        pytest.param(
            "[{opcode: updateAny, templatePath: pod.yaml}]",
            "{}",
            "template pod.yaml: needs metadata.name",
            id="update-of-nothing",
        ),
        pytest.param(
            "[{opcode: createPods, count: 1, podTemplatePath: loop.yaml}]",
            "{}",
            "template loop.yaml: a template has an {{range}} without an {{end}}",
            id="template-with-an-open-loop",
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
        "loop": "kind: Pod\nspec: {{range .x}}",
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
