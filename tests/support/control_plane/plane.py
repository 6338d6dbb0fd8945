"""A real control plane on loopback: etcd and kube-apiserver, without controllers and kubelets.

Tests compare the embedded API server with it; benchmarks run schedulers against it. Its programs
are those that `setup-envtest` downloads.
"""

import contextlib
import functools
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from podium.release import LATEST, RELEASES, release_named
from tests.support.control_plane.processes import Program, free_port

NEEDED = ("etcd", "kube-apiserver", "kubectl")
MISSING = (
    f"no control plane: set KUBEBUILDER_ASSETS to a folder with {', '.join(NEEDED)} "
    f"(setup-envtest use {LATEST}.x)"
)


class NoControlPlane(Exception):
    """There are no programs to start; the message says what to do."""


@dataclass
class Binaries:
    """A folder with the programs; some come with more of them, such as kube-scheduler."""

    folder: Path

    def __getitem__(self, name):
        path = self.folder / name
        if not os.access(path, os.X_OK):
            raise NoControlPlane(f"no control plane: {self.folder} has no {name}")
        return str(path)

    @functools.cached_property
    def release(self):
        """The release of Kubernetes, as kube-apiserver itself says."""
        command = [self["kube-apiserver"], "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return release_named(re.search(r"v(\d+\.\d+)", said)[1])


def find_binaries(environment=os.environ):
    """The folders that the environment names, else what setup-envtest has put down, newest first.

    Of downloads there is one folder for each release that podium knows.
    """
    named = environment.get("KUBEBUILDER_ASSETS")
    folders = map(Path, named.split(os.pathsep)) if named else None
    found = [
        Binaries(folder)
        for folder in folders or downloaded(data_folder(environment, sys.platform))
        if all(os.access(folder / name, os.X_OK) for name in NEEDED)
    ]
    if not found:
        raise NoControlPlane(MISSING)
    return found


def data_folder(environment, platform):
    """The user's folder for data of programs, as setup-envtest takes it on each platform."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or "/")
    if platform == "win32":
        return Path(environment.get("LocalAppData") or home / "AppData" / "Local")
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")


def downloaded(data):
    """The folder with the last patch of each release that podium knows, newest release first."""
    last = {}
    for folder in (data / "kubebuilder-envtest" / "k8s").glob("*.*.*-*"):
        version = re.match(r"(\d+\.\d+)\.(\d+)-", folder.name)
        if version:
            last.setdefault(version[1], []).append((int(version[2]), folder))
    found = (last.get(str(release)) for release in reversed(RELEASES))
    return [max(folders)[1] for folders in found if folders]


ADMIN = ("admin", ("system:masters",))
# A proxy that may name users, and the headers it names them in, as kubeadm sets them.
PROXY = "front-proxy-client"
PROXY_HEADERS = (
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
)


class ControlPlane:
    """Started by ``with``; its state is a temporary folder that goes with it."""

    def __init__(self, binaries, flags=(), *, protects_volumes=False):
        self.binaries = binaries
        self._flags = flags
        # Both want controllers, and there are none: to make accounts, to release volumes.
        wanting = ("ServiceAccount", "StorageObjectInUseProtection")
        self._disabled = wanting[:1] if protects_volumes else wanting
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="control-plane-"))
            self.folder = Path(folder)
            self.credentials = Credentials(self.folder)
            self.proxies = Credentials(_made(self.folder / "proxies"), "proxies")
            self._etcd = self._start_etcd(stack)
            self.url = self._start_api_server(stack, self._etcd)
            self.admin = self.kubeconfig_for(*ADMIN)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def before_it_ends(self, call):
        """Call this when the control plane is to end: connections to it must be closed."""
        self._stack.callback(call)

    @property
    def authority(self):
        """The certificates to trust when talking to ``url``."""
        return self.folder / "serving" / "apiserver.crt"

    def kubeconfig_for(self, user, groups=(), days=2):
        """A kubeconfig of any user; what they may do is up to RBAC (system:masters: everything)."""
        certificate, key = self.credentials.issue(user, groups, days)
        cluster = {"server": self.url, "certificate-authority": str(self.authority)}
        credentials = {"client-certificate": str(certificate), "client-key": str(key)}
        return write_kubeconfig(certificate.with_suffix(".kubeconfig"), cluster, credentials)

    def forget(self):
        """Let etcd compact: no version before the present one can be asked for any more."""
        found = self._ask_etcd("/v3/kv/range", {"key": "AA=="})  # any key tells the revision
        revision = found["header"]["revision"]
        self._ask_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})

    def _ask_etcd(self, path, body):
        at = urlsplit(self._etcd)
        with contextlib.closing(http.client.HTTPConnection(at.hostname, at.port)) as connection:
            connection.request("POST", path, json.dumps(body))
            return json.loads(connection.getresponse().read())

    def _start_etcd(self, stack):
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        arguments = [
            self.binaries["etcd"],
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        ]
        etcd = stack.enter_context(Program(arguments, self.folder / "etcd.log"))
        etcd.wait_until(lambda: answers(client, "/health"))
        return client

    def _start_api_server(self, stack, etcd):
        port = free_port()
        url = f"https://127.0.0.1:{port}"
        key = self.credentials.service_account_key
        arguments = [
            self.binaries["kube-apiserver"],
            f"--etcd-servers={etcd}",
            f"--cert-dir={self.folder / 'serving'}",
            f"--client-ca-file={self.credentials.authority}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://127.0.0.1",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=RBAC",
            f"--requestheader-client-ca-file={self.proxies.authority}",
            f"--requestheader-allowed-names={PROXY}",
            *PROXY_HEADERS,
            f"--disable-admission-plugins={','.join(self._disabled)}",
            *self._flags,
        ]
        server = stack.enter_context(Program(arguments, self.folder / "kube-apiserver.log"))
        server.wait_until(lambda: answers(url, "/readyz", self._trust))
        return url

    def _trust(self):
        return ssl.create_default_context(cafile=self.authority)


def _made(folder):
    folder.mkdir()
    return folder


class Credentials:
    """A certificate authority in a folder: who shows its certificate is the user it names."""

    def __init__(self, folder, name="control-plane"):
        self._folder = folder
        self.authority = folder / "ca.crt"
        self.service_account_key = folder / "service-account.key"
        self._key = folder / "ca.key"
        subject = ("-subj", f"/CN={name}", "-days", "2", *_NEW_KEY)
        _openssl("req", "-x509", *subject, "-keyout", self._key, "-out", self.authority)
        curve = ("-name", "prime256v1", "-genkey", "-noout")
        _openssl("ecparam", *curve, "-out", self.service_account_key)

    def issue(self, user, groups=(), days=2):
        """A certificate of a user that is valid for so many days, and its key."""
        stem = "-".join((user, *groups)).replace(":", "_").replace("/", "_")
        paths = [self._folder / f"{stem}.{suffix}" for suffix in ("crt", "key", "csr")]
        certificate, key, request = paths
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
        _openssl("req", "-subj", subject, *_NEW_KEY, "-keyout", key, "-out", request)
        signing = ("-CA", self.authority, "-CAkey", self._key, "-CAcreateserial", "-days", days)
        _openssl("x509", "-req", "-in", request, *signing, "-out", certificate)
        return certificate, key


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*arguments):
    program = shutil.which("openssl")
    if program is None:
        raise NoControlPlane("no control plane: its certificates need the command openssl")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)


def write_kubeconfig(path, cluster, user):
    """A kubeconfig with one context; returns its path."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
        "current-context": "it",
    }
    path.write_text(json.dumps(config))
    return path


def answers(url, path, trust=None):
    """Whether a GET is answered with 200 by now."""
    at = urlsplit(url)
    try:
        if trust is None:
            connection = http.client.HTTPConnection(at.hostname, at.port, timeout=5)
        else:
            connection = http.client.HTTPSConnection(
                at.hostname, at.port, timeout=5, context=trust()
            )
        with contextlib.closing(connection):
            connection.request("GET", path)
            return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
