"""The manifests in deploy/: servers accept them, and podium runs under the account they create."""

import json
import os
import sys

import pytest

from tests.support.control_plane import shipped, sides
from tests.support.control_plane.plane import ControlPlane
from tests.support.control_plane.processes import Scheduler, free_port
from tests.support.control_plane.shipped import DEPLOY
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.cluster

BESIDE = DEPLOY / "overlays" / "beside"
INSTEAD = DEPLOY / "overlays" / "instead"


def cluster_admin(plane, side):
    """A user who has the role cluster-admin and is not in the group that skips authorization."""
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    body = {
        "metadata": {"name": "operator"},
        "roleRef": {**role, "name": "cluster-admin"},
        "subjects": [{"kind": "User", "name": "operator"}],
    }
    kind = {"Content-Type": "application/json"}
    code, answer, _ = side.request("POST", path, json.dumps(body).encode(), **kind)
    assert code in (201, 409), answer
    return plane.kubeconfig_for("operator")


@pytest.mark.parametrize("overlay", [BESIDE, INSTEAD], ids=lambda path: path.name)
def test_servers_accept_the_manifests(overlay, binaries, plane, theirs, ours):
    wanted = names(rendered(binaries, overlay))

    for kubeconfig in (cluster_admin(plane, theirs), ours.kubeconfig):
        said = shipped.apply(binaries, kubeconfig, overlay, "--dry-run=server", "--output=json")
        answer = json.loads(said)
        found = answer["items"] if answer["kind"] == "List" else [answer]
        assert names(found) == wanted


def rendered(binaries, overlay):
    return shipped.objects(shipped.rendered(binaries, overlay))


def test_the_deployment_mounts_the_generated_config(binaries):
    by_kind = {each["kind"]: each for each in rendered(binaries, BESIDE)}
    volumes = by_kind["Deployment"]["spec"]["template"]["spec"]["volumes"]

    mounted = [each["configMap"]["name"] for each in volumes if "configMap" in each]
    assert mounted == [by_kind["ConfigMap"]["metadata"]["name"]]


def test_monitoring_is_added_as_a_component(binaries, tmp_path):
    folder = tmp_path.resolve()
    parts = {"resources": BESIDE, "components": DEPLOY / "components" / "monitoring"}
    kustomization = {key: [os.path.relpath(path, folder)] for key, path in parts.items()}
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization))

    without = names(rendered(binaries, BESIDE))
    added = names(rendered(binaries, folder)) - without
    assert {kind for kind, _ in added} == {
        "ClusterRoleBinding",
        "ConfigMap",
        "PrometheusRule",
        "ServiceMonitor",
    }


def names(objects):
    return {(each["kind"], each["metadata"]["name"]) for each in objects}


def test_podium_runs_beside_kube_scheduler(binaries, tmp_path):
    with ControlPlane(binaries) as plane:
        side = sides.real(plane)
        shipped.apply(binaries, cluster_admin(plane, side), BESIDE)
        stage = Stage(side, "second")
        account = shipped.account(plane, side, tmp_path)
        port = free_port()
        with as_the_deployment(account, port, tmp_path, binaries.release) as scheduler:
            probed = {path: shipped.get(port, path) for path in ("/livez", "/readyz", "/metrics")}
            stage.ready_nodes("a")
            stage.pod("theirs")
            stage.pod("ours", schedulerName="podium")
            note = stage.until_told("ours", "Scheduled")
        theirs = stage.outcome("theirs")
        lease = stage.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/podium")

    assert note == "Successfully assigned second/ours to a"
    assert theirs["node"] is None
    assert lease["spec"]["holderIdentity"] == "", "released at the end"
    assert " INFO " in scheduler.said
    assert probed == {"/livez": 200, "/readyz": 200, "/metrics": 403}
    assert scheduler.complaints == []


def as_the_deployment(account, port, folder, release):
    """The process of the Deployment's container, with a kubeconfig in place of a mounted token."""
    command = [sys.executable, "-m", "podium", "scheduler", f"--config={BESIDE / 'config.yaml'}"]
    files = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
    credentials = [f"--{flag}={account}" for flag in files]
    serving = ["--bind-address=127.0.0.1", f"--secure-port={port}"]
    options = ["--logging-format=text", f"--emulated-version={release}"]
    return Scheduler([*command, *credentials, *serving, *options], folder / "podium.log")
