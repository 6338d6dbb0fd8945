"""Coscheduling and CapacityScheduling on real control planes, with the rights that deploy/ grants.

The manifests are those of scheduler-plugins' documentation: they need no change.
"""

import json
import os
import sys

import pytest
import yaml

from tests.support.control_plane import shipped
from tests.support.control_plane.audit import audited_plane
from tests.support.control_plane.processes import Scheduler
from tests.support.control_plane.shipped import DEPLOY

pytestmark = pytest.mark.cluster

COMPONENT = DEPLOY / "components" / "scheduler-plugins"
ALPHA = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default"
PODS = "/api/v1/namespaces/default/pods"
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceName: podium, resourceNamespace: kube-system}
clientConnection: {kubeconfig: KUBECONFIG}
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}, {name: CapacityScheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    postFilter:
      enabled: [{name: CapacityScheduling}, {name: Coscheduling}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: Coscheduling
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: CoschedulingArgs
      permitWaitingTimeSeconds: 10
"""


def install(audited, folder):
    """Apply the overlay "beside" with the component; return a kubeconfig of podium's account."""
    plane, side = audited.plane, audited.side
    overlay = plane.folder / "overlay"
    overlay.mkdir()
    beside, component = (
        os.path.relpath(path, overlay.resolve())
        for path in (DEPLOY / "overlays" / "beside", COMPONENT)
    )
    content = {"resources": [beside], "components": [component]}
    (overlay / "kustomization.yaml").write_text(json.dumps(content))
    shipped.apply(plane.binaries, plane.admin, overlay)
    for kind in ("podgroups", "elasticquotas"):
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind}.scheduling.x-k8s.io"
        named = f"metadata.name={kind}.scheduling.x-k8s.io"
        side.wait_for(f"{path.rpartition('/')[0]}?fieldSelector={named}", is_established)
    return shipped.account(plane, side, folder)


def is_established(definition):
    conditions = definition.get("status", {}).get("conditions", ())
    found = {one["type"]: one["status"] for one in conditions}
    assert found.get("NonStructuralSchema") != "True", conditions
    assert found.get("KubernetesAPIApprovalPolicyConformant", "True") == "True", conditions
    return found.get("Established") == "True"


def create(side, path, body):
    code, answer, _ = side.request("POST", path, json.dumps(body).encode(), **JSON)
    assert code == 201, answer
    return answer


def patch(side, path, body):
    headers = {**JSON, "Content-Type": "application/merge-patch+json"}
    code, answer, _ = side.request("PATCH", path, json.dumps(body).encode(), **headers)
    assert code == 200, answer


def node(side, name, cpu):
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    create(side, "/api/v1/nodes", {"metadata": {"name": name}, "status": {"allocatable": amounts}})
    patch(side, f"/api/v1/nodes/{name}", {"spec": {"taints": None}})  # new nodes are not ready


def member(name, group="nginx"):
    container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}
    labels = {"scheduling.x-k8s.io/pod-group": group}
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [container]}}


GROUP = yaml.safe_load("""
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: nginx}
spec: {scheduleTimeoutSeconds: 10, minMember: 3}
""")
QUOTA = yaml.safe_load("""
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata: {name: quota1}
spec: {max: {cpu: 6}, min: {cpu: 4}}
""")


@pytest.fixture
def audited(binaries, tmp_path):
    with audited_plane(binaries, tmp_path) as running:
        yield running


def test_a_gang_within_a_quota(audited, binaries, tmp_path):
    side = audited.side
    kubeconfig = install(audited, tmp_path)
    config = tmp_path / "scheduler.yaml"
    config.write_text(CONFIGURATION.replace("KUBECONFIG", str(kubeconfig)))
    command = [sys.executable, "-m", "podium", "scheduler", f"--config={config}"]
    flags = ["--secure-port=0", f"--emulated-version={binaries.release}"]
    with Scheduler([*command, *flags], tmp_path / "podium.log"):
        node(side, "n1", "2")
        create(side, f"{ALPHA}/elasticquotas", QUOTA)
        create(side, f"{ALPHA}/podgroups", GROUP)
        for name in ("a", "b", "c"):
            create(side, PODS, member(name))
        side.wait_for(PODS, has_failed)
        _, listed, _ = side.request("GET", PODS, **JSON)
        assert [one["spec"].get("nodeName") for one in listed["items"]] == [None] * 3

        node(side, "n2", "1")
        for name in ("a", "b", "c"):
            side.wait_for(f"{PODS}?fieldSelector=metadata.name={name}", is_bound)
            run(side, name)
        side.wait_for(f"{ALPHA}/podgroups", lambda one: phase_of(one) == ("Running", 3))
        side.wait_for(f"{ALPHA}/elasticquotas", lambda one: used_of(one) == {"cpu": "3"})

    assert audited.all_refused(shipped.USER) == []


def has_failed(pod):
    conditions = pod.get("status", {}).get("conditions", ())
    why = "gets rejected due to Pod"
    return any(why in one.get("message", "") for one in conditions)


def is_bound(pod):
    return bool(pod["spec"].get("nodeName"))


def run(side, name):
    """Say that the pod runs: there is no kubelet."""
    patch(side, f"{PODS}/{name}/status", {"status": {"phase": "Running"}})


def phase_of(group):
    status = group.get("status") or {}
    return status.get("phase"), status.get("running")


def used_of(quota):
    return (quota.get("status") or {}).get("used")
