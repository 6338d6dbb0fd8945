"""Requests of ``podium get``, ``apply`` and ``delete`` to the API server of a kubeconfig."""

from __future__ import annotations

import argparse
import base64
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from podium.apiserver.statuses import Json
from podium.cli import kubeconfig
from podium.client.answers import error_of
from podium.errors import NotFound, PodiumError

_TIMEOUT = 60.0
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


class Session:
    """One API server; each call sends one request and waits for the answer."""

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
                f'{path}: context "{context}": {server!r:.80} is not the address of a server'
            )
        if not server:
            known = [str(one.get("name")) for one in config.get("contexts") or []]
            there = f"there are: {', '.join(known)}" if known else "it has no contexts"
            hint = "start a cluster with: podium up --detach"
            if known:
                hint = f"choose one with --context, or {hint}"
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
            raise PodiumError(f"{path}: user {name}: its token is not a line of text")
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
        """Return the JSON of the answer; raises ``ApiError`` if the server refuses."""
        data = None if body is None else msgspec.json.encode(body)
        request = self._request(path, headers or {}, method, data)
        with self._answer(request, _TIMEOUT) as answer:
            return _object(self._server, answer.read())

    def watch(self, path: str, accept: str = "application/json", **query: str) -> Iterator[Json]:
        """Yield each changed object; raises ``PodiumError`` when the server ends the watch."""
        path = _with_query(path, {**query, "watch": "true"})
        request = self._request(path, {"Accept": accept}, "GET")
        with self._answer(request, None) as answer:
            for line in _lines(answer):
                event = _object(self._server, line)
                if event.get("type") == "ERROR":
                    raise error_of(0, msgspec.json.encode(event.get("object")))
                yield event["object"]
        raise PodiumError(f"{self._server} has ended the watch")

    def _request(
        self, path: str, headers: dict[str, str], method: str, data: bytes | None = None
    ) -> urllib.request.Request:
        sent = {"User-Agent": "podium", "Content-Type": "application/json", **headers}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        try:
            return urllib.request.Request(self._server + path, data, sent, method=method)
        except ValueError as error:
            raise self._unreachable(error) from error

    @contextmanager
    def _answer(
        self, request: urllib.request.Request, timeout: float | None
    ) -> Iterator[HTTPResponse]:
        try:
            with self._opener.open(request, timeout=timeout) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            raise error_of(error.code, error.read()) from error
        except (OSError, HTTPException, ValueError) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> PodiumError:
        why = getattr(error, "reason", error)
        hint = "start a cluster with: podium up --detach"
        return PodiumError(f"{self._server} does not answer: {why}; {hint}")


def _lines(answer: HTTPResponse) -> Iterator[bytes]:
    """Yield lines until the answer ends; it makes no difference if the connection breaks."""
    with suppress(OSError, HTTPException):
        yield from answer


def _object(server: str, text: bytes) -> Json:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise PodiumError(f"{server} is not a Kubernetes API server: it answers {text!r:.60}")
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
