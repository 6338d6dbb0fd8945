"""Templates: identity is given, everything else stays as written or as the API server fills it."""

import pytest

from podium.api.objects import Namespace, Node, Pod, Service, decode
from podium.bench.templates import Template, Templates
from podium.errors import PodiumError

POD = {
    "kind": "Pod",
    "metadata": {"generateName": "web-", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "app", "resources": {"limits": {"cpu": "2"}}}]},
}


def test_json_and_object_are_the_same_pod():
    template = Template(POD)

    assert decode(Pod, template.json(7, "shop")) == template.build(7, "shop")


def test_fields_of_its_own_stand_beside_those_of_the_template():
    own = {"metadata": {"annotations": {"a": "b"}}, "spec": {"priority": 5}}

    pod = decode(Pod, Template(POD).json(7, "shop", own))

    assert (pod.key, pod.labels) == ("shop/web-7", {"app": "web"})
    assert pod.metadata.annotations == {"a": "b"}
    assert (pod.priority, len(pod.spec.containers)) == (5, 1)


@pytest.mark.parametrize("written", ['"{{.Index}}Mi"', "{{ .Index }}Mi"])
def test_the_number_of_an_object_may_stand_in_it(tmp_path, written):
    (tmp_path / "pod.yaml").write_text(
        "{kind: Pod, spec: {containers: [{name: app, resources: {requests: {memory: "
        + written
        + "}}}]}}"
    )
    template = Templates(tmp_path).load("pod.yaml")

    pods = template.build(70, index=7), decode(Pod, template.json(80, "shop", index=8))
    asked = [pod.spec.containers[0].resources.requests["memory"] for pod in pods]

    assert asked == ["7Mi", "8Mi"]


def test_everything_of_an_object_may_depend_on_its_index(tmp_path):
    (tmp_path / "pod.yaml").write_text(
        "kind: Pod\n"
        "metadata: {name: 'pod-{{.Index}}', labels: {color: 'green-{{.Index}}'}}\n"
        "spec:\n"
        "  priority: {{if .high}}{{AddInt 0 .high}}{{else}}1{{end}}\n"
        "  containers: [{name: a, ports: [{hostPort: 8{{ Mod .Index 12 }}}],\n"
        "    resources: {requests: {memory: '{{ DivideInt 30000 .Count }}Mi'}}}]\n"
    )
    template = Templates(tmp_path).load("pod.yaml", {"high": 500}, 10)

    pod = template.build(99, "shop", index=14)

    assert pod == decode(Pod, template.json(99, "shop", index=14))
    assert (pod.key, pod.labels, pod.priority) == ("shop/pod-14", {"color": "green-14"}, 500)
    assert pod.spec.containers[0].ports[0].host_port == 82
    assert pod.spec.containers[0].resources.requests == {"memory": "3000Mi"}
    assert not template.makes_one_name


def test_parameters_choose_between_templates_of_one_file(tmp_path):
    (tmp_path / "pod.yaml").write_text("kind: Pod\nspec: {priority: {{.value}}}\n")
    templates = Templates(tmp_path)

    pods = [templates.load("pod.yaml", {"value": value}).build(1) for value in (3, 4)]

    assert [pod.priority for pod in pods] == [3, 4]


def test_objects_differ_in_name_and_uid():
    template = Template(POD)

    first, second = template.build(1, "shop"), template.build(2, "shop")

    assert (first.key, second.key) == ("shop/web-1", "shop/web-2")
    assert first.uid != second.uid
    assert first.labels == second.labels == {"app": "web"}


def test_limits_stand_for_missing_requests():
    pod = Template(POD).build(1, "shop")

    assert isinstance(pod, Pod)
    assert pod.spec.containers[0].resources.requests == {"cpu": "2"}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({"capacity": {"cpu": "4"}}, {"cpu": "4"}, id="capacity-stands-for-it"),
        pytest.param(
            {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}, {"cpu": "3"}, id="as-written"
        ),
    ],
)
def test_allocatable(status, expected):
    node = Template({"kind": "Node", "status": status}).build(1)

    assert isinstance(node, Node)
    assert node.status.allocatable == expected


def test_nodes_and_namespaces_get_the_labels_of_their_names():
    node = Template({"kind": "Node"}).build(3)
    namespace = Template({"kind": "Namespace"}).build(4, name="shop")

    assert node.labels == {"kubernetes.io/hostname": "node-3"}
    assert isinstance(namespace, Namespace)
    assert namespace.labels == {"kubernetes.io/metadata.name": "shop"}


def test_only_namespaced_kinds_get_a_namespace():
    assert Template({"kind": "Node"}).build(1, "shop").namespace == ""
    service = Template({"kind": "Service"}).build(1, "shop")
    assert isinstance(service, Service)
    assert service.namespace == "shop"


def test_fixed_name_stays():
    assert Template({"kind": "Node", "metadata": {"name": "one"}}).build(9).name == "one"


UNREADABLE = {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}
SPREAD = {"topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": UNREADABLE}]}
TERM = {"topologyKey": "zone", "labelSelector": UNREADABLE}
ANTI = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}


@pytest.mark.parametrize(
    "plain",
    [
        pytest.param({}, id="no-kind"),
        pytest.param({"kind": "Lease"}, id="kind-nobody-schedules-by"),
        pytest.param({"kind": "Node", "metadata": [1]}, id="metadata-of-another-type"),
        pytest.param({"kind": "Node", "metadata": {"generateName": 5}}, id="bad-name"),
        pytest.param({"kind": "Node", "status": {"capacity": {"cpu": "x"}}}, id="bad-quantity"),
        pytest.param({"kind": "Pod", "spec": {"containers": 5}}, id="bad-field"),
        pytest.param({"kind": "Pod", "spec": {**SPREAD}}, id="selector-of-a-constraint"),
        pytest.param({"kind": "Pod", "spec": {"affinity": ANTI}}, id="selector-of-a-term"),
    ],
)
def test_bad_template(plain):
    with pytest.raises(PodiumError):
        Template(plain)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"containers": None}, id="no-containers"),
        pytest.param({"containers": [None]}, id="nothing-in-the-list"),
        pytest.param({"containers": [{"resources": None}]}, id="no-resources"),
        pytest.param({"containers": [{"resources": {"limits": None}}]}, id="no-limits"),
        pytest.param(None, id="no-spec"),
    ],
)
def test_nulls_are_fields_that_are_not_there(spec):
    made = Template({"kind": "Pod", "metadata": None, "spec": spec})

    assert decode(Pod, made.json(1, "default")) == made.build(1, "default")
