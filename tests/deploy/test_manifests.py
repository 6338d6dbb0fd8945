"""The manifests in deploy/: the rights follow from the code, and containers are locked down.

tests/control_plane/test_deploy.py renders and applies them.
"""

import asyncio
import importlib.util
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
BESIDE = DEPLOY / "overlays" / "beside"


def load(path):
    return list(yaml.safe_load_all(path.read_text()))


def of_kind(kind, path):
    return next(each for each in load(path) if each["kind"] == kind)


@pytest.fixture(scope="module")
def rbac():
    path = DEPLOY.parent / "tools" / "rbac.py"
    spec = importlib.util.spec_from_file_location("rbac", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_cluster_role_is_up_to_date(rbac):
    """`make rbac` writes it anew."""
    assert rbac.FILE.read_text() == rbac.manifest(rbac.cluster_rights())


def test_the_lease_role_grants_what_an_election_sends(rbac):
    """Candidates are left out: a coordinated election is about kube-scheduler's own lease."""
    coordinated = {"create_candidate", "update_candidate"}
    sent = asyncio.run(rbac.sent_by(rbac.OF_ELECTIONS - coordinated))
    role = of_kind("Role", BESIDE / "lease-role.yaml")

    granted = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == sent


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/nodes/a", ("", "nodes", "get")),
        ("POST", "/api/v1/namespaces/ns/pods/p/binding", ("", "pods/binding", "create")),
        ("GET", "/api/v1/namespaces/ns", ("", "namespaces", "get")),
        ("PATCH", "/apis/a.io/v1/namespaces/ns/cogs/c/status", ("a.io", "cogs/status", "patch")),
        ("POST", "/apis/a.io/v1/namespaces/ns/cogs", ("a.io", "cogs", "create")),
    ],
)
def test_right_of_a_request(rbac, method, path, expected):
    assert rbac.right_of(method, path) == expected


def test_the_lease_is_the_one_that_the_role_names():
    (config,) = load(BESIDE / "config.yaml")
    role = of_kind("Role", BESIDE / "lease-role.yaml")
    named = [rule["resourceNames"] for rule in role["rules"] if "resourceNames" in rule]

    assert named == [[config["leaderElection"]["resourceName"]]]
    assert role["metadata"]["namespace"] == config["leaderElection"]["resourceNamespace"]


def pod_specs():
    deployment = of_kind("Deployment", DEPLOY / "base" / "deployment.yaml")
    static = of_kind("Pod", DEPLOY / "overlays" / "instead" / "pod.yaml")
    return {"deployment": deployment["spec"]["template"]["spec"], "static-pod": static["spec"]}


every_pod = pytest.mark.parametrize("spec", pod_specs().values(), ids=pod_specs())


@every_pod
def test_containers_are_locked_down(spec):
    (container,) = spec["containers"]

    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@every_pod
def test_probes_ask_the_secure_port(spec):
    (container,) = spec["containers"]
    port = container["ports"][0]

    assert port["containerPort"] == 10259
    for probe, path in (("startup", "livez"), ("liveness", "livez"), ("readiness", "readyz")):
        asked = container[f"{probe}Probe"]["httpGet"]
        assert (asked["scheme"], asked["path"], asked["port"]) == (
            "HTTPS",
            f"/{path}",
            port["name"],
        )


def test_the_deployment_does_not_run_as_root():
    context = pod_specs()["deployment"]["securityContext"]

    assert context["runAsNonRoot"]
    assert context["runAsUser"] > 0
