"""Requests of the commands ``get``, ``apply`` and ``delete`` to the API server of a kubeconfig."""

from __future__ import annotations

import argparse
import base64
import ssl
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from podium.apiserver import kubeconfig
from podium.apiserver.kubeconfig import CONTEXT
from podium.apiserver.statuses import Json
from podium.client.answers import error_of
from podium.errors import NotFound, PodiumError

_TIMEOUT = 60.0
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What every command that talks to a cluster understands."""
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", default="default", help="default: %(default)s"
    )
    parser.add_argument(
        "--kubeconfig", metavar="FILE", type=Path, help="default: the file that kubectl uses"
    )
    parser.add_argument(
        "--context", metavar="NAME", default=CONTEXT, help="default: %(default)s, of podium up"
    )


class Session:
    """One API server, asked one thing at a time."""

    def __init__(self, server: str, token: str = "", tls: ssl.SSLContext | None = None) -> None:
        self._server = server.rstrip("/")
        self._token = token
        handlers: list[Any] = [urllib.request.ProxyHandler({})]  # loopback is never proxied
        if tls is not None:
            handlers.append(urllib.request.HTTPSHandler(context=tls))
        self._opener = urllib.request.build_opener(*handlers)

    @classmethod
    def of(cls, args: argparse.Namespace) -> Session:
        path = args.kubeconfig or kubeconfig.default_path()
        return cls.from_config(kubeconfig.read(path), args.context, path)

    @classmethod
    def from_config(cls, config: Json, context: str, path: Path) -> Session:
        server = kubeconfig.server_of(config, context)
        if server and not server.startswith(("http://", "https://")):
            raise PodiumError(
                f'{path}: context "{context}": {server!r:.80} is no address of a server'
            )
        if not server:
            known = [str(one.get("name")) for one in config.get("contexts") or []]
            there = f"there are: {', '.join(known)}" if known else "it has none at all"
            hint = "start a cluster with: podium up --detach"
            raise PodiumError(f'{path}: no context "{context}"; {there}; {hint}')
        cluster = kubeconfig.entry(config, "clusters", kubeconfig.cluster_name(config, context))
        name = str(kubeconfig.entry(config, "contexts", context).get("user", ""))
        user = kubeconfig.entry(config, "users", name)
        if unknown := set(user) - {"token"}:
            what = ", ".join(sorted(unknown))
            hint = "use kubectl for this cluster"
            raise PodiumError(f"{path}: user {name}: {what} is not supported; {hint}")
        token = user.get("token") or ""
        if not isinstance(token, str) or not token.isprintable():
            raise PodiumError(f"{path}: user {name}: its token is no line of text")
        try:
            return cls(server, token, _tls(cluster))
        except (OSError, ValueError, TypeError) as error:
            why = f"its certificate authority cannot be used: {error}"
            raise PodiumError(f'{path}: context "{context}": {why}') from error

    def get(self, path: str, accept: str = "application/json", **query: str) -> Json:
        return self.call("GET", _with_query(path, query), headers={"Accept": accept})

    def find(self, path: str) -> Json | None:
        try:
            return self.get(path)
        except NotFound:
            return None

    def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Json:
        """The answer's JSON; an ``ApiError`` says what the server has against it."""
        sent = {"User-Agent": "podium", "Content-Type": "application/json", **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else msgspec.json.encode(body)
        try:
            request = urllib.request.Request(self._server + path, data, sent, method=method)
            with self._opener.open(request, timeout=_TIMEOUT) as answer:
                return _object(self._server, answer.read())
        except urllib.error.HTTPError as error:
            raise error_of(error.code, error.read()) from error
        except (OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", error)
            hint = "start a cluster with: podium up --detach"
            raise PodiumError(f"{self._server} does not answer: {why}; {hint}") from error


def _object(server: str, text: bytes) -> Json:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise PodiumError(f"{server} is no Kubernetes API server: it answers {text!r:.60}")
    return found


def _with_query(path: str, query: dict[str, str]) -> str:
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _tls(cluster: Json) -> ssl.SSLContext | None:
    if not str(cluster.get("server", "")).startswith("https:"):
        return None
    context = ssl.create_default_context()
    if cluster.get("certificate-authority-data"):
        context.load_verify_locations(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode()
        )
    elif cluster.get("certificate-authority"):
        context.load_verify_locations(cafile=cluster["certificate-authority"])
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
