"""Callers of every kind, who ask a scheduler for every path; and what each of them is answered."""

import contextlib
import http.client
import json
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.control_plane.plane import PROXY, Credentials

MONITOR = "monitor"
NOBODY = "nobody"
_ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Caller:
    """Someone with a token, a certificate, headers, or nothing."""

    name: str
    headers: dict = field(default_factory=dict)
    certificate: tuple = ()  # the files of a certificate and its key


@dataclass(frozen=True)
class Answer:
    """``code`` is "TLS" if there was none: the handshake failed."""

    code: object
    body: str = ""
    headers: dict = field(default_factory=dict)


def all_callers(plane, side, folder):
    """Create the accounts and rights, and return the callers."""
    strangers = Credentials(folder, "strangers")
    tokens = {name: _token(side, name) for name in (MONITOR, NOBODY)}
    _bind(side, "monitor", {"kind": "ServiceAccount", "name": MONITOR, "namespace": "default"})
    _bind(side, "monitoring-user", {"kind": "User", "name": "monitoring-user"})
    issue, proxy = plane.credentials.issue, plane.proxies.issue(PROXY)
    named = {"X-Remote-User": "monitoring-user", "X-Remote-Group": "dev"}
    return [
        Caller("nothing"),
        Caller("a wrong token", _bearer("wrong")),
        Caller("a token without rights", _bearer(tokens[NOBODY])),
        Caller("a token with system:monitoring", _bearer(tokens[MONITOR])),
        Caller("a certificate of system:masters", certificate=issue("root", ("system:masters",))),
        Caller("a certificate without rights", certificate=issue("somebody")),
        Caller("a certificate with system:monitoring", certificate=issue("monitoring-user")),
        Caller("an expired certificate", certificate=issue("late", ("system:masters",), -1)),
        Caller("a stranger's certificate", certificate=strangers.issue("stranger")),
        Caller("a proxy for a user with system:monitoring", named, proxy),
        Caller("a proxy that names nobody", certificate=proxy),
        Caller("another certificate of the proxies", named, plane.proxies.issue("other")),
        Caller("headers of a proxy without its certificate", named),
        Caller("headers of a proxy with a user's certificate", named, issue("somebody")),
    ]


def _bearer(token):
    return {"Authorization": f"Bearer {token}"}


def _token(side, name):
    _create(side, _ACCOUNTS, {"metadata": {"name": name}})
    made = _create(side, f"{_ACCOUNTS}/{name}/token", {"spec": {"expirationSeconds": 3600}})
    return made["status"]["token"]


def _bind(side, name, subject):
    group = {} if subject["kind"] == "ServiceAccount" else {"apiGroup": "rbac.authorization.k8s.io"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    body = {
        "metadata": {"name": name},
        "roleRef": {**role, "name": "system:monitoring"},
        "subjects": [{**subject, **group}],
    }
    _create(side, _BINDINGS, body)


def _create(side, path, body):
    code, answer, _ = side.request("POST", path, json.dumps(body).encode(), **JSON)
    assert code < 300, answer
    return answer


def ask(port, path, caller=Caller("nothing"), method="GET", body=None):  # noqa: B008
    """Send a request to the secure port, as this caller, over a new connection."""
    trust = ssl.create_default_context()
    trust.check_hostname = False
    trust.verify_mode = ssl.CERT_NONE
    if caller.certificate:
        trust.load_cert_chain(*map(Path, caller.certificate))
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=trust)
    with contextlib.closing(connection):
        try:
            connection.request(method, path, body, caller.headers)
            found = connection.getresponse()
            return Answer(
                found.status, found.read().decode(errors="replace"), dict(found.getheaders())
            )
        except (ssl.SSLError, http.client.RemoteDisconnected, ConnectionError):
            return Answer("TLS")
