"""Kinds whose objects keep their JSON, for schedulers with extenders: those get whole objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import msgspec

from podium.api.meta import KeptJson, RawObject
from podium.client.resources import Resource

R = TypeVar("R", bound=RawObject)

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def keeping_json(
    resource: Resource[R], wanted: Callable[[R], bool] = lambda _: True
) -> Resource[R]:
    """The same kind; objects that are ``wanted`` keep their JSON."""

    def decode_and_keep(raw: bytes, known: R | None) -> R:
        decoded = resource.decode(raw, known)
        if not wanted(decoded):
            return decoded
        return msgspec.structs.replace(decoded, _raw=KeptJson(_trimmed(raw)))

    return replace(resource, decode=decode_and_keep, struct=None)


def _trimmed(raw: bytes) -> bytes:
    """Without kind and version, which lists leave out anyhow, and without who wrote which field."""
    members = _MEMBERS.decode(raw)
    metadata = _MEMBERS.decode(members["metadata"])
    metadata.pop("managedFields", None)
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    members.pop("kind", None)
    members.pop("apiVersion", None)
    return msgspec.json.encode(members)
