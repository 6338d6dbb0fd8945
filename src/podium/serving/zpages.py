"""`/statusz` and `/flagz`: what runs here and with which flags, as text, JSON or YAML."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
import yaml
from aiohttp import web

from podium.release import LATEST, Release
from podium.serving import statuses

COMPONENT: Final = "kube-scheduler"
WARNING: Final = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
    "guarantees and is for debugging purposes only."
)
_GROUP: Final = "config.k8s.io"
_VERSIONS: Final = {"v1alpha1": "deprecated", "v1beta1": ""}
_DELIMITERS: Final = (
    ":",
    ": ",
    "=",
    " ",
)  # chosen at random, as upstream, so that programs do not parse the text
_TYPES: Final = ("application/json", "application/yaml", "text/plain")
_ANY_TEXT: Final = ("*/*", "text/*", "text/plain")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class About:
    """What `/statusz` shows of this process; times are seconds since the epoch."""

    started: float
    now: Callable[[], float]
    paths: Sequence[str]
    release: Release = LATEST

    def fields(self) -> Json:
        return {
            "startTime": f"{datetime.fromtimestamp(self.started, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "uptimeSeconds": self._uptime(),
            "goVersion": _python(),  # the name of the field is the API's
            "binaryVersion": str(LATEST),
            "emulationVersion": str(self.release),
            "paths": list(self.paths),
        }

    def text(self) -> str:
        mark, up = random.choice(_DELIMITERS), self._uptime()
        lines = {
            "Started": f"{datetime.fromtimestamp(self.started, UTC):%a %b %e %H:%M:%S UTC %Y}",
            "Up": f"{up // 3600} hr {up // 60 % 60:02} min {up % 60:02} sec",
            "Python version": _python(),
            "Binary version": str(LATEST),
            "Emulation version": str(self.release),
            "Paths": " ".join(self.paths),
        }
        rows = "".join(f"{name}{mark} {value}\n" for name, value in lines.items())
        return f"\n{COMPONENT} statusz\n{WARNING}\n\n{rows}"

    def _uptime(self) -> int:
        return max(0, int(self.now() - self.started))


def _python() -> str:
    return f"python{'.'.join(map(str, sys.version_info[:3]))}"


def flags_text(flags: Mapping[str, str]) -> str:
    mark = random.choice(_DELIMITERS)
    rows = "".join(f"{name}{mark}{flags[name]}\n" for name in sorted(flags))
    return f"\n{COMPONENT} flagz\n{WARNING}\n{rows}"


class Wanted(NamedTuple):
    """A form that a client accepts; ``version`` is empty for text."""

    type: str
    version: str = ""


def answer(request: web.Request, kind: str, fields: Json, text: str) -> web.Response:
    """Answer in the form that the client accepts, with 406 if it accepts none of ours."""
    accept = request.headers.get("Accept", "")
    wanted = negotiate(accept, kind)
    if wanted is None:
        # As upstream: whoever would take plain JSON is a program, all others may be people.
        return statuses.not_acceptable(_TYPES, is_indented=not _takes_json(accept))
    if not wanted.version:
        return statuses.plain(200, text)
    version = f"{_GROUP}/{wanted.version}"
    body = {"kind": kind, "apiVersion": version, "metadata": {"name": COMPONENT}, **fields}
    headers = {"Content-Type": f"{wanted.type};g={_GROUP};v={wanted.version};as={kind}"}
    if _VERSIONS[wanted.version]:
        page = kind.lower()
        headers["Warning"] = (
            f'299 - "This version of the {page} endpoint is deprecated. '
            'Please use a newer version."'
        )
    return web.Response(body=_encoded(body, wanted.type), headers=headers)


def _encoded(body: Json, type: str) -> bytes:
    if type == "application/yaml":
        return yaml.safe_dump(body).encode()
    return msgspec.json.encode(body) + b"\n"


def _takes_json(accept: str) -> bool:
    clauses = [clause.replace(" ", "").partition(";") for clause in accept.split(",")]
    return any(type == _TYPES[0] and "as=" not in rest for type, _, rest in clauses)


def negotiate(accept: str, kind: str) -> Wanted | None:
    """Return the first form that is ours; structured ones must name group, version and kind."""
    if not accept.strip():
        return Wanted("text/plain")
    for clause in accept.split(","):
        type, *parameters = (part.strip() for part in clause.split(";"))
        named = dict(each.split("=", 1) for each in parameters if "=" in each)
        if type in _ANY_TEXT and "as" not in named:
            return Wanted("text/plain")
        version = named.get("v", "")
        is_ours = named.get("g") == _GROUP and named.get("as") == kind and version in _VERSIONS
        if type in _TYPES[:2] and is_ours:
            return Wanted(type, version)
    return None
