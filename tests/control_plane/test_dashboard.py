"""Signing in to the dashboard on a real control plane: its tokens, its rights, and their end."""

import json
import re
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
import yaml

from podium.cli import main
from podium.dashboard.site import pages
from tests.support.control_plane import kubeadm, sides
from tests.support.control_plane.callers import Caller, ask
from tests.support.control_plane.plane import ControlPlane
from tests.support.control_plane.processes import USER, free_port

pytestmark = pytest.mark.cluster

DOCS = Path(__file__).parents[2] / "docs" / "dashboard.md"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PATIENCE_SECONDS = 60


class Port:
    """The secure port of a scheduler with a dashboard, and the API server behind it."""

    def __init__(self, number, side):
        self.number = number
        self.side = side

    def create(self, path, body):
        sent = json.dumps(body).encode()
        code, answer, _ = self.side.request(
            "POST", path, sent, **{"Content-Type": "application/json"}
        )
        assert code < 300, answer
        return answer

    def token(self, name):
        self.create(ACCOUNTS, {"metadata": {"name": name}})
        made = self.create(f"{ACCOUNTS}/{name}/token", {"spec": {"expirationSeconds": 3600}})
        return made["status"]["token"]

    def get(self, path, **headers):
        return ask(self.number, f"/dashboard/{path}", Caller("somebody", headers))

    def post(self, path, body, **headers):
        caller = Caller("somebody", headers)
        return ask(self.number, f"/dashboard/{path}", caller, "POST", body)

    def sign_in(self, token):
        return self.post("sign-in", urlencode({"token": token}), **FORM)


@pytest.fixture(scope="module")
def port(binaries, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dashboard")
    with ControlPlane(binaries) as plane:
        number = free_port()
        flags = (f"--emulated-version={binaries.release}", "--logging-format=text", "--dashboard")
        started = kubeadm.scheduler(
            kubeadm.PODIUM, plane.kubeconfig_for(USER), number, folder / "podium.log", *flags
        )
        with started:
            yield Port(number, sides.real(plane))


def test_a_token_with_the_role_of_the_docs_signs_in_until_its_rights_end(port, tmp_path, capsys):
    role = yaml.safe_load(re.search(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)[1])
    port.create(f"{RBAC}/clusterroles", role)
    viewer, stranger = port.token("viewer"), port.token("stranger")
    bound = {
        "metadata": {"name": "viewers"},
        "roleRef": {"kind": "ClusterRole", "name": role["metadata"]["name"],
                    "apiGroup": "rbac.authorization.k8s.io"},
        "subjects": [{"kind": "ServiceAccount", "name": "viewer", "namespace": "default"}],
    }  # fmt: skip
    port.create(f"{RBAC}/clusterrolebindings", bound)
    page = pages()["sign-in.html"].decode()

    unknown = [port.get(""), port.get("api/overview")]
    refused = [port.sign_in(token) for token in ("wrong", stranger, "")]
    assert [(each.code, each.body) for each in unknown] == [(401, page)] * 2
    assert len({each.body for each in refused}) == 1  # it does not say which tokens exist
    for each in refused:
        assert each.code == 401
        assert "This token was not accepted, or its user may not get /dashboard/*." in each.body
    assert not any("Set-Cookie" in each.headers for each in (*unknown, *refused))

    begun = port.sign_in(viewer)
    assert begun.code == 303
    cookie = begun.headers["Set-Cookie"]
    assert all(part in cookie for part in ("Secure", "HttpOnly", "SameSite=Strict"))
    assert viewer not in cookie
    session = {"Cookie": cookie.partition(";")[0]}
    assert port.get("", **session).code == 200
    overview = port.get("api/overview", **session)
    assert (overview.code, json.loads(overview.body)["nodes"]) == (200, 0)
    asked = port.post("api/what-if", "{}", **session, **{"Content-Type": "application/json"})
    assert (asked.code, "nothing to try" in asked.body) == (422, True)

    # Programs send the token itself; `podium top` insists on a certificate that it can check.
    assert port.get("api/overview", Authorization=f"Bearer {viewer}").code == 200
    (tmp_path / "token").write_text(viewer)
    server = f"https://127.0.0.1:{port.number}"
    assert main(["top", "--server", server, "--token-file", str(tmp_path / "token")]) == 1
    assert "certificate verify failed" in capsys.readouterr().err

    code, answer, _ = port.side.request("DELETE", f"{RBAC}/clusterrolebindings/viewers")
    assert code == 200, answer
    end = time.monotonic() + PATIENCE_SECONDS  # what was allowed is remembered for ten seconds
    while (last := port.get("api/overview", **session)).code == 200:
        assert time.monotonic() < end, "the session goes on without its rights"
    assert (last.code, last.body) == (401, page)
