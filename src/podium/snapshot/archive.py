"""podium's own format of snapshots: gzip of JSON lines.

The first line describes the snapshot, each further line is one object, and the last line counts
them, so that a file that was cut short is recognized. ``zcat FILE | jq`` reads it, too.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from podium import files
from podium.api.codec import UNREADABLE
from podium.api.times import parse_time
from podium.errors import InvalidSnapshot, InvalidTime, PodiumError
from podium.snapshot.model import Json, KindName, Missing, ObjectStream, Snapshot

API_VERSION: Final = "podium.dev/v1"
KIND: Final = "Snapshot"
GROUP: Final = "podium.dev/"  # the API group of the format, in every version
_START: Final = b'{"apiVersion":"podium.dev/'  # what this podium's headers start with
MAX_HEADER: Final = 16 << 20

_LEVEL: Final = 3  # twice as fast as the usual 6 for files that are a tenth larger


class _Header(msgspec.Struct, rename="camel", omit_defaults=True):
    api_version: str
    kind: str
    source: str = ""
    taken_at: str = ""
    server_version: str = ""
    resource_version: str = ""
    is_anonymized: bool = False
    configuration: Json | None = None
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()


class _End(msgspec.Struct):
    objects: int


class _Version(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""


class _Type(msgspec.Struct, rename="camel"):
    """What every line but the first must be: an object with a name, or the end."""

    api_version: str = ""
    kind: str = ""
    metadata: Named | None = None
    end: _End | None = None


class Named(msgspec.Struct):
    """Metadata with a name."""

    name: str


_DECODE_VERSION: Final = msgspec.json.Decoder(_Version).decode
_DECODE_HEADER: Final = msgspec.json.Decoder(_Header).decode
_DECODE_TYPE: Final = msgspec.json.Decoder(_Type).decode


def write(snapshot: Snapshot, path: Path) -> int:
    """Write the file, replacing an older one only when it is whole. Return its size in bytes.

    It shows what runs in a cluster: only the user may read it.
    """
    try:
        with files.replacing(path) as raw:
            with gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as file:
                for line in _lines(snapshot):
                    file.write(line + b"\n")
            return raw.tell()
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error


def _lines(snapshot: Snapshot) -> Iterator[bytes]:
    header = _Header(
        API_VERSION,
        KIND,
        snapshot.source,
        snapshot.taken_at,
        snapshot.server_version,
        snapshot.resource_version,
        snapshot.is_anonymized,
        snapshot.configuration,
        snapshot.missing,
        snapshot.notes,
    )
    yield msgspec.json.encode(header)
    for found in snapshot.objects.values():
        yield from found
    yield msgspec.json.encode({"end": _End(len(snapshot))})


def is_archive(line: bytes) -> bool:
    """Whether the first line is a header of this format, of any version and however it is spaced.

    One that cannot be read is taken for a damaged header if it starts as this podium writes it.
    """
    if len(line) > MAX_HEADER:
        return False
    try:
        return _DECODE_VERSION(line).api_version.startswith(GROUP)
    except UNREADABLE:
        return line.startswith(_START)


def check_version(version: str, kind: str, source: str) -> None:
    """Raise ``InvalidSnapshot`` unless this podium reads such a file."""
    if kind != KIND:
        raise InvalidSnapshot(source, f"{version}, kind {kind!r:.40}: not a snapshot")
    if version != API_VERSION:
        raise InvalidSnapshot(
            source,
            f"a {KIND} of version {version:.40}, but this podium reads {API_VERSION}: update "
            "podium, or save the snapshot again with this one",
        )


def parse(
    first: bytes, lines: Iterable[bytes], source: str, *, is_checked: bool = True
) -> ObjectStream:
    """Read a file in this format from its first line and the others, decompressed.

    With ``is_checked=False`` only the beginning of a line is looked at if it is that of an object
    of the same kind as the line before. The caller decodes each object and finds other errors.
    """
    header = _header(first, source)
    taken = Snapshot(
        {},
        header.source,
        header.taken_at,
        header.server_version,
        header.resource_version,
        header.configuration,
        header.missing,
        header.notes,
        header.is_anonymized,
    )
    return ObjectStream(taken, _objects(lines, source, is_checked))


def _header(line: bytes, source: str) -> _Header:
    try:
        version = _DECODE_VERSION(line)
        check_version(version.api_version, version.kind, source)
        header = _DECODE_HEADER(line)
        if header.taken_at:
            parse_time(header.taken_at)
        return header
    except (*UNREADABLE, InvalidTime) as error:
        raise InvalidSnapshot(source, f"line 1 is not a header of a snapshot: {error}") from error


def _objects(
    lines: Iterable[bytes], source: str, is_checked: bool
) -> Iterator[tuple[KindName, bytes]]:
    name, start = KindName("", ""), b""  # of the line before, and how objects of its kind begin
    count = 0
    end: _End | None = None
    for number, given in enumerate(lines, start=2):
        line = given.rstrip(b"\r\n")
        if end is not None:
            raise InvalidSnapshot(source, f"line {number}: nothing may follow the end")
        if is_checked or not start or not line.startswith(start):
            found, end = _type_of(line, number, source)
            if end is not None:
                continue
            if found != name:
                name = KindName(*found)
                start = b'{"apiVersion":"%b","kind":"%b","metadata":{"' % tuple(
                    map(str.encode, found)
                )
        count += 1
        yield name, line
    if end is None or end.objects != count:
        raise InvalidSnapshot(source, f"cut short after {count} objects: save or copy it again")


def _type_of(line: bytes, number: int, source: str) -> tuple[tuple[str, str], _End | None]:
    try:
        found = _DECODE_TYPE(line)
    except UNREADABLE as error:
        if "truncated" in str(error):
            text = f"cut short in line {number}: save or copy it again"
            raise InvalidSnapshot(source, text) from error
        raise InvalidSnapshot(source, f"line {number} is not an API object: {error}") from error
    has_name = found.metadata is not None and bool(found.metadata.name)
    if found.end is None and not (found.api_version and found.kind and has_name):
        raise InvalidSnapshot(
            source,
            f"line {number} is not an API object: apiVersion, kind or metadata.name is missing",
        )
    return (found.api_version, found.kind), found.end
