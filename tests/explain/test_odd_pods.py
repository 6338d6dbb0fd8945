"""Odd pods: an explanation never fails, and says what is wrong with them."""

import jsonschema
import pytest

from podium import explain
from podium.explain import explain_node, explain_pod
from podium.testing import claim, node, pod
from tests.support.offline_cores import core_with

SCHEMA = jsonschema.Draft202012Validator(explain.schema())
HOSTNAME = "kubernetes.io/hostname"
NODES = (
    node("a", cpu="2", labels=f"{HOSTNAME}=a"),
    node("b", cpu="4", labels=f"{HOSTNAME}=b", taints="x=1:NoSchedule"),
)
ON_A = (NODES[0],)


def requiring(*terms):
    selector = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def near(*terms):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def container(name, cpu, **more):
    return {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}


def named(*names):
    return {"key": "metadata.name", "operator": "In", "values": list(names)}


SIDECAR = container("side", "4", restartPolicy="Always")
DAEMON = [{"kind": "DaemonSet", "name": "agent", "controller": True}]
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "rack",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "w"}},
}


@pytest.mark.parametrize(
    ("objects", "subject", "code", "kinds"),
    [
        pytest.param(
            NODES,
            pod("w", containers=[container("c", "1")], resources={"requests": {"cpu": "9"}}),
            "InsufficientResource",
            ["request", "larger-node"],
            id="resources-of-the-pod",
        ),
        pytest.param(
            NODES, pod("w", cpu="1", overhead={"cpu": "5"}), "InsufficientResource",
            ["larger-node"], id="overhead-cannot-be-reduced",
        ),
        pytest.param(
            NODES,
            pod(
                "w",
                containers=[container("c", "1")],
                init_containers=[SIDECAR, container("i", "3")],
            ),
            "InsufficientResource",
            ["request", "larger-node"],
            id="sidecar-and-init-container",
        ),
        pytest.param(
            ON_A, pod("w", cpu="2.0005"), "InsufficientResource", ["request", "larger-node"],
            id="fractions-are-rounded-up",
        ),
        pytest.param(
            ON_A, pod("w", requests={"hugepages-2Mi": "4Mi"}), "InsufficientResource",
            ["request", "larger-node"], id="huge-pages",
        ),
        pytest.param(
            (*ON_A, pod("p", node="a", cpu="5")), pod("w", cpu="1"), "InsufficientResource",
            ["request", "priority", "pod-gone", "new-node"], id="overcommitted-node",
        ),
        pytest.param(
            (*ON_A, pod("p", node="a", cpu="2", priority=2_000_000_000)), pod("w", cpu="1"),
            "InsufficientResource", ["request", "pod-gone", "new-node"],
            id="no-user-has-a-higher-priority-than-the-system",
        ),
        pytest.param(
            (*ON_A, pod("p", node="a", cpu="1500m", owner_references=DAEMON)), pod("w", cpu="1"),
            "InsufficientResource", ["request", "priority"],
            id="daemon-pods-come-back-and-come-with-a-new-node",
        ),
        pytest.param(
            ON_A, pod("w", affinity=requiring()), "NodeAffinityMismatch", ["node-affinity"],
            id="node-affinity-without-terms",
        ),
        pytest.param(
            ON_A, pod("w", affinity=requiring({})), "NodeAffinityMismatch", ["node-affinity"],
            id="empty-term",
        ),
        pytest.param(
            ON_A,
            pod("w", affinity=requiring({"matchExpressions": [{"key": "k", "operator": "Near"}]})),
            "NodeAffinityMismatch",
            ["node-affinity"],
            id="operator-that-does-not-exist",
        ),
        pytest.param(
            NODES, pod("w", affinity=requiring({"matchFields": [named("a"), named("b")]})),
            "NodeAffinityConflict", ["node-affinity"], id="contradictory-names",
        ),
        pytest.param(
            ON_A, pod("w", affinity=near({"topologyKey": HOSTNAME})), "PodAffinityMismatch",
            ["pod-affinity"], id="term-without-a-selector",
        ),
        pytest.param(
            ON_A,
            pod(
                "w",
                affinity=near(
                    {
                        "labelSelector": {"matchExpressions": [{"key": "k", "operator": "Bad"}]},
                        "topologyKey": HOSTNAME,
                    }
                ),
            ),
            "AffinityTermInvalid",
            ["pod-affinity"],
            id="invalid-selector",
        ),
        pytest.param(
            ON_A,
            pod("w", topology_spread_constraints=[SPREAD, {**SPREAD, "topologyKey": "z"}]),
            "TopologyLabelMissing", ["spread-soft"], id="two-labels-are-missing",
        ),
        pytest.param(
            (node("a", taints=" ".join(f"k{n}=v:NoSchedule" for n in range(12))),), pod("w"),
            "UntoleratedTaint", ["toleration"], id="many-taints",
        ),
        pytest.param(
            (node("a", taints="node.kubernetes.io/not-ready:NoSchedule"),), pod("w"),
            "UntoleratedTaint", ["toleration", "new-node"], id="node-that-is-not-ready",
        ),
        pytest.param(
            (*ON_A, claim("data", volume="gone")), pod("w", claims="data"), "VolumeNotFound",
            ["create-volume"], id="claim-of-a-volume-that-is-gone",
        ),
        pytest.param(
            (*ON_A, claim("data", storage_class="nope")), pod("w", claims="data"), "ClaimUnbound",
            ["create-volume"], id="class-that-does-not-exist",
        ),
        pytest.param(
            ON_A, pod("w", claims="one two", cpu="9"), "ClaimNotFound", ["combination"],
            id="two-claims-are-missing-and-no-room",
        ),
        pytest.param(
            ON_A, pod("w", volumes=[{"name": "v", "ephemeral": {}}]), "ClaimNotCreatedYet", [],
            id="ephemeral-volume",
        ),
        pytest.param(
            ON_A, pod("w", volumes=[{"name": "v", "persistentVolumeClaim": {}}]), "ClaimNotFound",
            [], id="claim-without-a-name",
        ),
        pytest.param(
            ON_A, pod("w", resource_claims=[{"name": "g", "resourceClaimTemplateName": "t"}]),
            "ResourceClaimNotCreatedYet", [], id="claim-from-a-template",
        ),
        pytest.param(
            ON_A, pod("w", resource_claims=[{"name": "g"}]), "ResourceClaimInvalid", [],
            id="claim-that-names-nothing",
        ),
    ],
)  # fmt: skip
def test_odd_pods(objects, subject, code, kinds):
    core = core_with(*objects)

    found = explain_pod(core, subject, nodes=["a", "nowhere"])

    SCHEMA.validate(found.to_dict())
    assert found.lines()
    assert explain_node(core, "a", [subject]).lines()
    assert (found.causes[0].code, [fix.kind for fix in found.fixes]) == (code, kinds)
    core.cluster.check_invariants()


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(pod("w", status={"phase": "Succeeded"}), id="succeeded"),
        pytest.param(pod("w", deletion_timestamp="2024-01-01T00:00:00Z"), id="being-deleted"),
    ],
)
def test_pods_that_no_scheduler_looks_at(subject):
    assert explain_pod(core_with(*NODES), subject).state == "ended"
