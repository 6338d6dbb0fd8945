"""Load a snapshot from a file or a directory, in any of the accepted formats.

These are podium's own format, YAML and JSON of ``kubectl get``, manifests, and exports of
kube-scheduler-simulator; each may be compressed with gzip.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Final

from podium import files
from podium.errors import InvalidSnapshot, PodiumError
from podium.snapshot import archive
from podium.snapshot.dumps import Dump
from podium.snapshot.model import KindName, ObjectStream, Snapshot

_SUFFIXES: Final = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")


def load(path: str | Path) -> Snapshot:
    """Return the snapshot in this file, or in all files below this directory.

    Raise ``InvalidSnapshot`` if something cannot be read. Kinds that are not there are listed in
    ``missing``, with what may differ because of that.
    """
    with streamed(path) as stream:
        return stream.collected()


@contextmanager
def streamed(path: str | Path, *, is_checked: bool = True) -> Iterator[ObjectStream]:
    """Open a snapshot to read its objects one by one. Podium's own format needs half the memory.

    What cannot be read raises ``InvalidSnapshot``, here or when the objects are read. Errors of the
    caller's own code are not changed. With ``is_checked=False`` an object of podium's own format
    may turn out not to be JSON when it is decoded; ``check`` then says in which line.
    """
    path = Path(path)
    with ExitStack() as stack:
        with _explained(path):
            is_directory = path.is_dir()
            can_be_read_again = path.is_file()
            if not is_directory:
                file = stack.enter_context(files.inflated(path))
        if is_directory:
            yield _from_directory(path).stream()
        else:
            yield _stream(file, path, is_checked or not can_be_read_again)


def _stream(file: BufferedReader, path: Path, is_checked: bool) -> ObjectStream:
    with _explained(path):
        first = file.readline(archive.MAX_HEADER + 1)
        if archive.is_archive(first):
            lines = files.lines_of(file)
            stream = archive.parse(first, lines, str(path), is_checked=is_checked)
            check = stream.check if is_checked else partial(load, path)
            return replace(stream, objects=_read(stream, path), check=check)
        data = files.rest_of(file, first)
    dump = Dump()
    dump.add(data, str(path))
    return dump.snapshot(str(path)).stream()


def _read(stream: ObjectStream, path: Path) -> Iterator[tuple[KindName, bytes]]:
    with _explained(path):
        yield from stream.objects


def _from_directory(path: Path) -> Snapshot:
    found, dump = _files(path), Dump()
    if not found:
        raise InvalidSnapshot(str(path), f"a directory without files *{', *'.join(_SUFFIXES[:3])}")
    for file in found:
        with _explained(file), files.inflated(file) as opened:
            first = opened.readline(archive.MAX_HEADER + 1)
            if archive.is_archive(first):
                text = "a whole snapshot: give this file, not its directory"
                raise InvalidSnapshot(str(file), text)
            data = files.rest_of(opened, first)
        dump.add(data, str(file))
    return dump.snapshot(str(path))


def _files(path: Path) -> list[Path]:
    try:
        found = (each for each in path.rglob("*") if each.name.endswith(_SUFFIXES))
        return sorted(each for each in found if each.is_file())
    except OSError as error:
        raise InvalidSnapshot(str(path), f"cannot be read: {error.strerror}") from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        with files.readable_errors():
            yield
    except InvalidSnapshot:
        raise
    except PodiumError as error:
        raise InvalidSnapshot(str(path), str(error)) from error
