"""Read files of recorded cases, plain or gzip-compressed, into typed cases.

The kind of a file follows from its content, not from its name. Everything is read before anything
is replayed, so a bad file ends the run before it starts.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Raw

from podium.api.codec import UNREADABLE
from podium.conformance.cases import AnyCase, RegistrationCase, kind_of
from podium.errors import InvalidRecording

T = TypeVar("T")

_GZIP = b"\x1f\x8b"
_ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
_OR_OTHERS = f"{', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}"
_REGISTRATIONS = "registered-events"


def read(paths: Iterable[str | PathLike[str]]) -> list[AnyCase]:
    """Return all cases of these files, in order; ``InvalidRecording`` names file and line.

    A folder means all recordings in it.
    """
    return [case for path in paths for file in _files(fspath(path)) for case in _cases(file)]


def _files(path: str) -> list[str]:
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    found = sorted({file for ending in _ENDINGS for file in folder.glob(f"*{ending}")})
    if not found:
        raise InvalidRecording(path, f"the folder has no file that ends with {_OR_OTHERS}")
    return [fspath(file) for file in found]


def select(
    cases: Iterable[AnyCase], families: Iterable[str] = (), names: Iterable[str] = ()
) -> list[AnyCase]:
    """Return the cases of these families whose names match; without criteria, all cases."""
    wanted, globs = frozenset(families), tuple(names)
    return [
        case
        for case in cases
        if (not wanted or case.family in wanted)
        and (not globs or any(fnmatchcase(case.name, glob) for glob in globs))
    ]


def _cases(path: str) -> Iterator[AnyCase]:
    data = _content(path)
    if not data.strip():
        raise InvalidRecording(path, "the file is empty")
    if (registrations := _registrations(path, data)) is not None:
        yield from registrations
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield parse_line(line, f"{path}:{number}")


def _content(path: str) -> bytes:
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except EOFError as error:
        raise InvalidRecording(path, "the compressed data are cut short") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InvalidRecording(path, f"not readable as gzip: {error}") from error
    except OSError as error:
        raise InvalidRecording(path, f"cannot be read: {error.strerror or error}") from error


def _registrations(path: str, data: bytes) -> list[AnyCase] | None:
    """Return the cases of a file that is one JSON object; ``None`` for any other file."""
    try:
        whole = msgspec.json.decode(data, type=dict[str, Raw])
    except UNREADABLE:
        return None
    if "plugins" not in whole:
        return None
    found = _typed(path, whole["plugins"], tuple[RegistrationCase, ...])
    return [
        msgspec.structs.replace(case, name=f"{_REGISTRATIONS}/{case.plugin}", source=path)
        for case in found
    ]


def parse_line(line: bytes, source: str = "") -> AnyCase:
    """Return the case on one line of a file; ``source`` names the line in errors."""
    try:
        keys = msgspec.json.decode(line, type=dict[str, Raw])
    except msgspec.ValidationError as error:
        raise InvalidRecording(source, "not a recorded case: a line is not an object") from error
    except UNREADABLE as error:
        raise InvalidRecording(source, f"not valid JSON: {error}") from error
    kind = kind_of(keys)
    if kind is None:
        listed = ", ".join(keys) or "no keys"
        raise InvalidRecording(source, f"unknown kind of recorded case, with the keys: {listed}")
    return msgspec.structs.replace(_typed(source, line, kind), source=source)


def _typed(source: str, data: bytes | Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE as error:
        raise InvalidRecording(source, f"not a recorded case: {error}") from error
