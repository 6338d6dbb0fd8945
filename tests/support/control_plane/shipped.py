"""podium as deploy/ ships it: its manifests rendered and applied, and its service account."""

import contextlib
import http.client
import json
import os
import ssl
import subprocess
from pathlib import Path

import yaml

from tests.support.control_plane.plane import write_kubeconfig

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
USER = "system:serviceaccount:kube-system:podium"
TOKEN = "/api/v1/namespaces/kube-system/serviceaccounts/podium/token"


def rendered(binaries, overlay):
    """The text that ``kubectl kustomize`` makes of a folder."""
    return _run([binaries["kubectl"], "kustomize", overlay])


def objects(text):
    return list(yaml.safe_load_all(text))


def apply(binaries, kubeconfig, overlay, *flags):
    """Apply an overlay with these flags of ``kubectl apply``; return what kubectl says."""
    command = [binaries["kubectl"], f"--kubeconfig={kubeconfig}", "apply", "--server-side"]
    return _run([*command, "--kustomize", overlay, *flags])


def install(plane, side, *leases):
    """Apply the manifests as an administrator; return a kubeconfig of podium's service account.

    It has the right to these leases, or to kube-scheduler's.
    """
    folder = plane.folder / "overlay"
    folder.mkdir()
    overlay = with_leases(folder, *(leases or ("kube-scheduler",)))
    apply(plane.binaries, plane.admin, overlay)
    return account(plane, side, folder)


def with_leases(folder, *names):
    """An overlay like "beside" with the right to other leases."""
    patch = [{"op": "replace", "path": "/rules/1/resourceNames", "value": list(names)}]
    kustomization = {
        "resources": [os.path.relpath(DEPLOY / "overlays" / "beside", folder.resolve())],
        "patches": [
            {"target": {"kind": "Role", "name": "podium-lease"}, "patch": json.dumps(patch)}
        ],
    }
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization))
    return folder


def token(side):
    """A token of the service account, as a pod gets it."""
    body = json.dumps({"spec": {"expirationSeconds": 3600}}).encode()
    headers = {"Content-Type": "application/json"}
    _, answer, _ = side.request("POST", TOKEN, body, **headers)
    return answer["status"]["token"]


def account(plane, side, folder):
    """A kubeconfig with the token of podium's service account."""
    cluster = {"server": plane.url, "certificate-authority": str(plane.authority)}
    return write_kubeconfig(folder / "account", cluster, {"token": token(side)})


def get(port, path, token=""):
    """The code of an answer from the secure port; its certificate is self-signed."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    trust = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trust, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
