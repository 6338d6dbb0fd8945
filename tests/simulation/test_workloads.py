"""Workloads that are added to a simulation come with their pods, as controllers create them."""

from __future__ import annotations

import pytest

from podium.errors import InvalidObject, SimulationError
from podium.simulation import Simulation
from podium.testing.builders import node

TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "500m"}}}]
    },
}


def workload(kind, version="apps/v1", **spec):
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": "web"}}}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {**selector, "template": TEMPLATE, **spec},
    }


def job(**spec):
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    return {**workload("Job", "batch/v1"), "spec": {"template": template, **spec}}


@pytest.mark.parametrize(
    ("manifest", "count", "owner"),
    [
        pytest.param(workload("Deployment", replicas=3), 3, "ReplicaSet", id="deployment"),
        pytest.param(workload("Deployment"), 1, "ReplicaSet", id="one-by-default"),
        pytest.param(workload("ReplicaSet", replicas=2), 2, "ReplicaSet", id="replica-set"),
        pytest.param(workload("StatefulSet", replicas=2), 2, "StatefulSet", id="stateful-set"),
        pytest.param(workload("DaemonSet"), 2, "DaemonSet", id="daemon-set-on-two-of-three"),
        pytest.param(job(parallelism=3, completions=2), 2, "Job", id="job"),
    ],
)
def test_pods_of_a_workload_are_placed(manifest, count, owner):
    simulated = Simulation.from_objects(
        [node("n1", cpu="4"), node("n2", cpu="4"), node("n3", cpu="4", taints="gpu:NoSchedule")]
    )

    simulated.add(manifest)
    result = simulated.schedule()

    assert len(result.placed) == count
    assert {pod.controller.kind for pod in simulated.pods.values()} == {owner}


def test_replicas_replace_those_of_the_workload():
    simulated = Simulation.from_objects([node("n1", cpu="4")])

    simulated.add(workload("Deployment", replicas=3), replicas=5)

    assert len(simulated.pods) == 5


def test_pods_of_a_stateful_set_get_volumes():
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "disk"},
        "provisioner": "example.com/disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    template = {
        "metadata": {"name": "data"},
        "spec": {
            "storageClassName": "disk",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    simulated = Simulation.from_objects([node("n1", cpu="4"), storage])

    simulated.add(workload("StatefulSet", replicas=2, volumeClaimTemplates=[template]))
    result = simulated.schedule()

    assert len(result.placed) == 2
    claims = simulated.objects("PersistentVolumeClaim")
    assert {claim.spec.volume_name for claim in claims.values()} == set(
        simulated.objects("PersistentVolume")
    )


def test_a_cluster_of_manifests_has_the_pods_of_its_workloads():
    simulated = Simulation.from_objects([workload("Deployment", replicas=2), node("n1", cpu="4")])

    assert len(simulated.schedule().placed) == 2


def test_a_loaded_pod_that_is_new_gets_its_claims():
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "disk",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    source = {"volumeClaimTemplate": {"spec": claim}}
    spec = {**TEMPLATE["spec"], "volumes": [{"name": "scratch", "ephemeral": source}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "disk"},
        "provisioner": "example.com/disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    simulated = Simulation.from_objects([pod, node("n1", cpu="4"), storage])

    assert len(simulated.schedule().placed) == 1
    assert set(simulated.objects("PersistentVolumeClaim")) == {"default/web-scratch"}
    simulated.remove("web")
    assert not simulated.objects("PersistentVolumeClaim")


def test_a_workload_that_is_there_is_refused():
    simulated = Simulation.from_objects([workload("Deployment", replicas=2), node("n1", cpu="4")])

    with pytest.raises(SimulationError, match="default/web is there already"):
        simulated.add(workload("Deployment", replicas=3))

    assert len(simulated.pods) == 2


def test_nothing_is_added_when_a_template_is_wrong():
    simulated = Simulation.from_objects([node("n1", cpu="4")])
    wrong = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}

    with pytest.raises(InvalidObject, match=r"spec\.template\.spec\.containers: Required value"):
        simulated.add(node("n2"), workload("Deployment", template=wrong))

    assert set(simulated.nodes) == {"n1"}


@pytest.mark.parametrize(
    "manifest",
    [{}, {"kind": "Pod"}, {"kind": "Pod", "metadata": []}, {"kind": 3, "metadata": {}}],
)
def test_what_is_not_an_object_is_refused(manifest):
    with pytest.raises(SimulationError, match="not an API object"):
        Simulation.from_objects([manifest])
