"""Parse requests: what a path names, what a client accepts, what query parameters mean."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from podium.apiserver import statuses
from podium.apiserver.api import Call
from podium.apiserver.kinds.api_kind import ApiKind, KindTable
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.store import Key

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a kind, and possibly a namespace, an object and a subresource."""

    kind: ApiKind
    namespace: str | None = None
    name: str = ""
    subresource: str = ""
    watch: bool = False

    @property
    def key(self) -> Key:
        return (self.namespace or "", self.name)


def find_target(kinds: KindTable, parts: list[str]) -> Target | None:
    """Find the target of a path given as its parts; None if the path names no kind."""
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    watch = rest[0] == "watch" and len(rest) > 1
    rest = rest[1:] if watch else rest
    namespace: str | None = None
    # /namespaces/a/status is the status of the namespace; no kind has that name.
    inside = len(rest) > 2 and (group or rest[2] not in ("status", "finalize"))
    if rest[0] == "namespaces" and inside:
        namespace, rest = rest[1], rest[2:]
    if (group, version, rest) == ("", "v1", ["bindings"]) and namespace is not None:
        # The older way to bind a pod: the body names it.
        return Target(kinds.resource("pods"), namespace, "", "binding")
    kind = kinds.at(group, version, rest[0])
    if kind is None or (len(rest) > 3 and rest[2] not in ("proxy",)):
        return None
    if kind.namespaced != (namespace is not None) and (not kind.namespaced or len(rest) > 1):
        return None  # an object of a namespaced kind is found only in its namespace
    name, subresource = (*rest[1:3], "", "")[:2]
    if subresource and subresource not in kind.subresources:
        if kind.custom and subresource in ("scale", "status"):
            raise statuses.not_found(kind.resource, name)
        return None
    return Target(kind, namespace, name, subresource, watch)


class Accept(NamedTuple):
    """The form of an answer: JSON or YAML, and the object itself or a view of it."""

    media: str = "application/json"
    view: str = ""  # Table, PartialObjectMetadata, PartialObjectMetadataList, APIGroupDiscoveryList
    version: str = ""


_VIEWS = {
    "Table": ("meta.k8s.io", ("v1", "v1beta1")),
    "PartialObjectMetadata": ("meta.k8s.io", ("v1", "v1beta1")),
    "PartialObjectMetadataList": ("meta.k8s.io", ("v1", "v1beta1")),
    "APIGroupDiscoveryList": ("apidiscovery.k8s.io", ("v2", "v2beta1")),
}
_JSON = ("application/json", "*/*", "application/*")
_YAML = ("application/yaml",)


def accepted(header: str) -> Accept:
    """Return the first accepted form that this server has; raise 406 if there is none."""
    for part in header.split(",") if header.strip() else ["*/*"]:
        media, *settings = (one.strip() for one in part.split(";"))
        if media not in (*_JSON, *_YAML):
            continue
        given = dict(one.partition("=")[::2] for one in settings)
        form = "application/yaml" if media in _YAML else "application/json"
        view = given.get("as", "")
        if not view:
            return Accept(form)
        group, versions = _VIEWS.get(view, ("", ()))
        if given.get("g") == group and given.get("v") in versions:
            return Accept(form, view, given["v"])
    raise statuses.not_acceptable()


_INT64 = range(-(2**63), 2**63)
_DIGITS = 100  # longer ones are out of range anyway


def flag(query: Query, name: str) -> bool:
    """Return whether a parameter is set to anything but "0" or "false"."""
    return name in query and query[name].lower() not in ("0", "false")


def number(query: Query, name: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise statuses.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(digits) > _DIGITS or int(text) not in _INT64:
        raise statuses.bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def version(query: Query, name: str = "resourceVersion") -> int | None:
    """Return a resource version as a number; None if the request has none."""
    text = query.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        cause = statuses.bad_value(
            name, text, f'strconv.ParseUint: parsing "{text}": invalid syntax'
        )
        raise statuses.bad_request(f"invalid resource version: {cause}")
    return int(text)


_VALIDATIONS = ("Ignore", "Warn", "Strict")


def call_of(query: Query, agent: str, options: str, subresource: str = "") -> Call:
    """Return the options of a write; ``options`` is the kind that a refusal names."""
    dry_run = query.get("dryRun", "")
    causes = []
    if "dryRun" in query and dry_run != "All":
        causes.append(statuses.unsupported("dryRun", [dry_run], ["All"]))
    validation = query.get("fieldValidation") or "Warn"
    if validation not in _VALIDATIONS:
        causes.append(
            statuses.unsupported("fieldValidation", validation, ["", *sorted(_VALIDATIONS)])
        )
    manager = query.get("fieldManager") or agent.split("/")[0] or "unknown"
    if len(manager) > 128:
        causes.append(statuses.too_long("fieldManager", 128))
    causes += _unprintable(query.get("fieldManager", ""))
    if causes:
        raise statuses.invalid(options, "meta.k8s.io", "", causes)
    return Call(manager, dry_run == "All", validation, subresource)


def _unprintable(manager: str) -> list[Cause]:
    """Return the first character of a manager's name that cannot be printed."""
    for at, char in enumerate(manager):
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {at})"
            return [statuses.bad_value("fieldManager", manager, detail)]
    return []


class Continue(NamedTuple):
    """Where a list continues: after which key, at which version (-1 is the present)."""

    version: int
    after: Key

    def encode(self) -> str:
        raw = msgspec.json.encode({"v": _TOKENS, "rv": self.version, "start": self.after})
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    @classmethod
    def decode(cls, token: str) -> Continue:
        try:
            raw: Any = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            found: Json = msgspec.json.decode(raw)
            if (version := found.get("v", "")) != _TOKENS:
                raise _no_token(f"server does not recognize this encoded version {version}")
            at, (namespace, name) = found["rv"], found["start"]
            if (
                not isinstance(at, int)
                or not isinstance(namespace, str)
                or not isinstance(name, str)
            ):
                raise TypeError
        except (binascii.Error, msgspec.DecodeError, ValueError, *_OTHER_SHAPES) as error:
            raise _no_token(str(error)) from None
        return cls(at, (namespace, name))


_TOKENS = "meta.k8s.io/v1"
_OTHER_SHAPES = (AttributeError, KeyError, TypeError)


def _no_token(why: str) -> statuses.Refusal:
    return statuses.bad_request(f"invalid continue token: continue key is not valid: {why}")
