"""Answers for paths outside the objects: discovery, OpenAPI, version and health."""

from __future__ import annotations

from collections.abc import Mapping

from podium.apiserver import discovery, statuses
from podium.apiserver.answers import Answer, encode
from podium.apiserver.api import Api
from podium.apiserver.openapi import OpenApi
from podium.apiserver.requests import Accept, accepted
from podium.apiserver.statuses import Json

_HEALTH = ("healthz", "livez", "readyz")
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


class Documents:
    """Answers requests for discovery, OpenAPI, version and health."""

    def __init__(self, api: Api) -> None:
        self._kinds = api.kinds
        self._openapi = OpenApi(api.kinds)
        self.address = ""

    def answer(self, method: str, parts: list[str], headers: Mapping[str, str]) -> Answer:
        if method not in ("GET", "HEAD"):
            raise statuses.no_such_path()
        accept = headers.get("Accept", "")
        if parts[0] in _HEALTH:
            return Answer(b"ok", media="text/plain; charset=utf-8")
        if parts[0] == "openapi":
            return self._openapi.answer(parts, accept)
        if parts[0] in ("api", "apis"):
            return self._discovery(parts, accept)
        found = self._plain(parts)
        if found is None:
            raise statuses.no_such_path()
        return encode(found, Accept())

    def _plain(self, parts: list[str]) -> Json | None:
        match parts:
            case [""]:
                return {"paths": ["/api", "/apis", "/healthz", "/openapi/v2", "/version"]}
            case ["version"]:
                return discovery.version(self._kinds.release)
            case _:
                return None

    def _discovery(self, parts: list[str], header: str) -> Answer:
        accept = accepted(header)
        if len(parts) == 1 and accept.view == "APIGroupDiscoveryList":
            found: Json | None = discovery.aggregated(
                self._kinds, parts[0] == "api", accept.version
            )
            return encode(found, accept)._replace(media=_AGGREGATED.format(accept.version))
        match parts:
            case ["api"]:
                found = discovery.core_versions(self.address)
            case ["api", version]:
                found = discovery.resource_list(self._kinds, "", version)
            case ["apis"]:
                found = discovery.group_list(self._kinds)
            case ["apis", group]:
                found = discovery.group(self._kinds, group)
            case ["apis", group, version]:
                found = discovery.resource_list(self._kinds, group, version)
            case _:
                found = None
        if found is None:
            raise statuses.no_such_path()
        return encode(found, accept)
