"""Anonymize a snapshot: other names, labels, annotations and images, and the same decisions.

New names sort as the old ones did, because ties and the search for devices follow the order of
names. There are two walks: the first collects all words, the second renames them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import msgspec

from podium.api.codec import decode
from podium.api.objects import Pod
from podium.snapshot.kinds import NOT_IN_THE_FILE
from podium.snapshot.model import Json, KindName, Snapshot
from podium.snapshot.renaming import Renaming
from podium.snapshot.renaming_configuration import left_out, rename_configuration
from podium.snapshot.trimming import trim
from podium.snapshot.well_known import KINDS_LEFT_OUT

_VERSION: Final = re.compile(r"v?\d+\.\d+(\.\d+)?")

_Objects = dict[KindName, tuple[bytes, ...]]


def anonymize(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which nothing says whose cluster it is."""
    kept = {
        name: found for name, found in snapshot.objects.items() if name.kind not in KINDS_LEFT_OUT
    }
    configuration = snapshot.configuration
    names = _new_names(_collected(kept, configuration))
    names |= _names_of_ephemeral_claims(snapshot, names)
    renaming = Renaming(names.__getitem__)
    return replace(
        snapshot,
        objects={
            name: tuple(_renamed(renaming, raw) for raw in found) for name, found in kept.items()
        },
        source="",
        server_version=_plain_version(snapshot.server_version),
        configuration=configuration and rename_configuration(renaming, configuration),
        missing=tuple(each._replace(reason=_reason(each.reason)) for each in snapshot.missing),
        notes=tuple(left_out(configuration)) if configuration else (),
        is_anonymized=True,
    )


def _collected(objects: _Objects, configuration: Json | None) -> set[str]:
    words: set[str] = set()

    def collect(word: str) -> str:
        words.add(word)
        return word

    renaming = Renaming(collect)
    for found in objects.values():
        for raw in found:
            renaming.of_object(trim(msgspec.json.decode(raw)))
    if configuration:
        rename_configuration(renaming, configuration)
    return words


def _plain_version(text: str) -> str:
    """Return ``v1.37.0`` of ``v1.37.0-eks-a737599``."""
    found = _VERSION.match(text)
    return found[0] if found else ""


def _reason(text: str) -> str:
    """Return why a kind is missing, without what a server has said about it."""
    return text if text == NOT_IN_THE_FILE else "could not be read"


def _new_names(words: set[str]) -> dict[str, str]:
    """Number all words in their order; numbers of one length sort as the words do."""
    width = len(str(len(words)))
    return {word: f"n{number:0{width}}" for number, word in enumerate(sorted(words))}


def _names_of_ephemeral_claims(snapshot: Snapshot, names: dict[str, str]) -> dict[str, str]:
    """The claim of an ephemeral volume is found by the names of its pod and volume."""
    found = {}
    for raw in snapshot.of_kind("Pod"):
        if b'"ephemeral"' in raw:
            pod = decode(Pod, raw)
            for volume in pod.spec.volumes:
                if volume.ephemeral is not None:
                    new = f"{names[pod.name]}-{names[volume.name]}"
                    found[f"{pod.name}-{volume.name}"] = new
    return found


def _renamed(renaming: Renaming, raw: bytes) -> bytes:
    return msgspec.json.encode(renaming.of_object(trim(msgspec.json.decode(raw))))
