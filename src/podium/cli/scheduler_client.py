"""Asks a running podium scheduler for its records, over HTTP on loopback."""

from __future__ import annotations

import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from podium.errors import NoScheduler, NotRecorded, PodiumError
from podium.live import answer_values as values

V = TypeVar("V", bound=msgspec.Struct)

_TIMEOUT_SECONDS: Final = 10.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback is not proxied


class SchedulerClient:
    """One scheduler, by the address where it serves health and metrics."""

    def __init__(self, address: str, timeout: float = _TIMEOUT_SECONDS) -> None:
        self.address = address.rstrip("/")
        self._timeout = timeout
        self._headers: dict[str, str] = {}
        self._opener = _OPENER

    def identity(self) -> values.Identity:
        return self._get("", values.Identity)

    def pod(self, key: str, *, node: str = "", attempt: int | None = None) -> values.PodRecords:
        """Return what is remembered about a pod; raise ``NotRecorded`` if it is not known."""
        query = {"node": node, "attempt": "" if attempt is None else str(attempt)}
        return self._get(f"/pods/{quote(key)}", values.PodRecords, query)

    def node(self, name: str) -> values.NodeRecords:
        return self._get(f"/nodes/{quote(name, safe='')}", values.NodeRecords)

    def queue(self, limit: int) -> values.QueueRecords:
        return self._get("/queue", values.QueueRecords, {"limit": str(limit)})

    def configuration(self) -> values.RunningConfiguration:
        return self._get("/configuration", values.RunningConfiguration)

    def _get(self, path: str, shape: type[V], query: dict[str, str] | None = None) -> V:
        given = {name: value for name, value in (query or {}).items() if value}
        found: V = self._read(f"/debug/podium{path}?{urlencode(given)}".rstrip("?"), shape)
        return found

    def _read(self, path: str, shape: Any) -> Any:
        try:
            return msgspec.json.decode(self._fetch(path), type=shape)
        except msgspec.MsgspecError as error:
            raise NoScheduler(f"no podium scheduler answers at {self.address}: {error}") from error

    def _fetch(self, path: str) -> bytes:
        try:
            request = urllib.request.Request(self.address + path, headers=self._headers)
            with self._opener.open(request, timeout=self._timeout) as answer:
                body: bytes = answer.read()
                return body
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error.code, error.read()) from error
        except (OSError, HTTPException, ValueError) as error:
            cause = getattr(error, "reason", None) or error
            why = getattr(cause, "strerror", None) or cause
            raise NoScheduler(f"no podium scheduler answers at {self.address}: {why}") from error

    def _refusal(self, code: int, body: bytes) -> PodiumError:
        try:
            failure = msgspec.json.decode(body, type=values.Failure)
        except msgspec.MsgspecError:
            why = f"the answer is {code}, and not podium's"
            return NoScheduler(f"no podium scheduler answers at {self.address}: {why}")
        text = f"{failure.error}; {failure.hint}" if failure.hint else failure.error
        return NotRecorded(text) if code == 404 else PodiumError(f"{self.address}: {text}")
