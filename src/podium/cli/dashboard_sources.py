"""Which scheduler `podium top` shows: that of `podium up`, or one that serves its dashboard."""

from __future__ import annotations

import argparse
import ssl
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from podium.cli import state_file
from podium.cli.dashboard_client import DashboardClient
from podium.dashboard.links import ROOT
from podium.errors import NoScheduler, PodiumError

Connect = Callable[[], DashboardClient]

_START: Final = "start one with: podium up --detach, or name a scheduler with --server"
_HINT: Final = (
    "give the link that podium scheduler --dashboard prints, or https://HOST:PORT with --token-file"
)


def connector(args: argparse.Namespace) -> Connect:
    """Return how to find the scheduler: after a restart it may have another address and key."""
    if not args.server:
        if args.token_file or args.certificate_authority:
            raise PodiumError("--token-file and --certificate-authority need --server")
        return _embedded(args.state_file or state_file.default_path(args.name))
    address = _checked(args.server)
    base = f"{address.scheme}://{address.netloc}"
    if address.query:
        client = LinkedClient(args.server, base)
        return lambda: client
    if not args.token_file:
        raise PodiumError(f"--server {args.server}: {_HINT}")
    opener = _opener(args.certificate_authority)
    return lambda: DashboardClient(base, _token(args.token_file), opener=opener)


def _embedded(path: Path) -> Connect:
    def connect() -> DashboardClient:
        running = state_file.find_running(path)
        if running is None:
            raise NoScheduler(f"{state_file.none_runs()}; {_START}")
        if not running.key:
            raise NoScheduler("this cluster runs no scheduler, so there is nothing to see")
        return DashboardClient(running.scheduler, running.key)

    return connect


def _checked(server: str) -> SplitResult:
    try:
        address = urlsplit(server)
        address.port  # noqa: B018  (raises if it is not a number)
    except ValueError as error:
        raise PodiumError(f"--server {server}: {error}; {_HINT}") from error
    if address.scheme not in ("http", "https") or not address.hostname:
        raise PodiumError(f"--server {server}: is not an address; {_HINT}")
    return address


def _token(path: Path) -> str:
    """Read the token each time: tokens of service accounts are replaced while they are used."""
    try:
        token = path.read_text().strip()
    except (OSError, ValueError) as error:
        raise PodiumError(f"{path}: cannot be read: {error}") from error
    if not (token and token.isascii() and token.isprintable()):
        raise PodiumError(f"{path}: has no bearer token")
    return token


def _opener(authority: Path | None) -> urllib.request.OpenerDirector:
    try:
        trusted = ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise PodiumError(f"{authority}: cannot be read as certificates: {error}") from error
    no_proxy = urllib.request.ProxyHandler({})
    return urllib.request.build_opener(no_proxy, urllib.request.HTTPSHandler(context=trusted))


class LinkedClient(DashboardClient):
    """A client that signs in with a link, once, and then keeps its session."""

    def __init__(self, link: str, address: str) -> None:
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)
        super().__init__(address, "", opener=opener)
        self._link = link
        self._is_signed_in = False

    def _read(self, path: str, shape: Any) -> Any:
        if not self._is_signed_in:
            self._fetch(f"{ROOT}?{urlsplit(self._link).query}")
            self._is_signed_in = True
        return super()._read(path, shape)
