"""The API server that is asked who a token belongs to, and what users may do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from podium.client.endpoints import find_endpoint, in_cluster
from podium.client.http import Connection, Options
from podium.clock import Clock
from podium.errors import CredentialsError, ServingError
from podium.logs import get_logger
from podium.serving.options import RequestHeaderOptions
from podium.serving.trust import Authorities, Proxies, Trust

log = get_logger(__name__)

CONFIG_MAP: Final = "kube-system/extension-apiserver-authentication"
_PATH: Final = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
_TIMEOUT_SECONDS: Final = 10.0
_MOST_BYTES: Final = 4 << 20  # of an answer: a ConfigMap has at most 1 MiB


def connect(
    kubeconfig: str, purpose: str, clock: Clock, environment: Mapping[str, str] = os.environ
) -> Connection | None:
    """Connect to the API server of a kubeconfig, or to that of this pod; None outside a pod.

    Raise ``CredentialsError`` if the kubeconfig cannot be used.
    """
    options = Options(
        qps=200,
        burst=400,
        user_agent=f"podium/{purpose}",
        timeout_seconds=_TIMEOUT_SECONDS,
        most_bytes=_MOST_BYTES,
    )
    if kubeconfig:
        return Connection(find_endpoint(clock, Path(kubeconfig)), clock, options)
    if not environment.get("KUBERNETES_SERVICE_HOST"):
        return None
    try:
        return Connection(in_cluster(clock, environment), clock, options)
    except CredentialsError as error:
        log.warning(f"failed to read in-cluster kubeconfig for delegated {purpose}", why=str(error))
        return None


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] = {}


async def look_up(connection: Connection) -> Trust:
    """Read the authorities that the API server publishes; raise ``ApiError`` if that fails.

    A part that is missing or unreadable is left out: then nobody is authenticated by it.
    """
    body = await connection.get(_PATH)
    try:
        data = msgspec.json.decode(body, type=_ConfigMap).data
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ServingError(f"configmap {CONFIG_MAP} cannot be read: {error}") from error
    return Trust(_bundle(data, "client-ca-file"), _proxies(data))


def _bundle(data: Mapping[str, str], key: str) -> Authorities | None:
    pem = data.get(key, "")
    if not pem.strip():
        return None
    return Authorities(pem.encode(), f"configmap {CONFIG_MAP}, {key}")


def _proxies(data: Mapping[str, str]) -> Proxies | None:
    authorities = _bundle(data, "requestheader-client-ca-file")
    if authorities is None:
        return None
    headers = RequestHeaderOptions(
        usernames=_names(data, "requestheader-username-headers"),
        uids=_names(data, "requestheader-uid-headers"),
        groups=_names(data, "requestheader-group-headers"),
        extra_prefixes=_names(data, "requestheader-extra-headers-prefix"),
        allowed_names=_names(data, "requestheader-allowed-names"),
    )
    return Proxies(authorities, headers)


def _names(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    text = data.get(key, "")
    if not text:
        return ()
    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ServingError(f"configmap {CONFIG_MAP}, {key}: {error}") from error
