"""Credentials that kube-apiserver does not accept, and a server that we should not trust: one
line that says so, however many kinds are to be followed."""

import json
import shutil

import pytest

from tests.support.control_plane.plane import Credentials, write_kubeconfig
from tests.support.control_plane.processes import USER

pytestmark = pytest.mark.cluster

REFUSED = "they are wrong or have expired; renew them"
KINDS = 18


def unknown_token(plane, folder):
    return {"token": "made-up"}


def foreign_certificate(plane, folder):
    certificate, key = Credentials(folder).issue(USER)
    return {"client-certificate": str(certificate), "client-key": str(key)}


def expired_certificate(plane, folder):
    kubeconfig = plane.kubeconfig_for("system:expired", days=-1)
    return json.loads(kubeconfig.read_text())["users"][0]["user"]


def told_by(podium, kubeconfig, folder):
    """What the scheduler complains about by the time that it has tried every kind again."""
    # Without a port, which would complain about the same credentials.
    scheduler = podium(folder, kubeconfig, "-v=10", "--secure-port=0")
    try:
        scheduler.wait_until(lambda: scheduler.said.count("still cannot ") >= 2 * KINDS)
    finally:
        scheduler.stop()
    assert "Traceback" not in scheduler.said
    return scheduler.complaints


@pytest.mark.parametrize("credentials", [unknown_token, foreign_certificate, expired_certificate])
def test_credentials_that_are_refused(credentials, plane, podium, tmp_path):
    cluster = {"server": plane.url, "certificate-authority": str(plane.authority)}
    user = credentials(plane, tmp_path)
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", cluster, user)

    (error,) = told_by(podium, kubeconfig, tmp_path)

    assert " ERROR podium.client.trouble cannot " in error
    assert f"{kubeconfig}, context it: {plane.url} does not accept these credentials" in error
    assert REFUSED in error


def test_a_server_that_is_not_trusted(plane, podium, tmp_path):
    shutil.copy(plane.folder / "ca.crt", tmp_path / "other.crt")  # it signs users, not the server
    cluster = {"server": plane.url, "certificate-authority": str(tmp_path / "other.crt")}
    user = json.loads(plane.admin.read_text())["users"][0]["user"]
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", cluster, user)

    (warning,) = told_by(podium, kubeconfig, tmp_path)

    assert f"{kubeconfig}, context it: {plane.url}: its certificate is not trusted" in warning
    assert "check certificate-authority-data and tls-server-name" in warning
