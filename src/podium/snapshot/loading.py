"""Load a snapshot from a file or a directory, in any of the accepted formats.

These are podium's own format, YAML and JSON of ``kubectl get``, manifests, and exports of
kube-scheduler-simulator; each may be compressed with gzip.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from podium import files
from podium.errors import InvalidSnapshot, PodiumError
from podium.snapshot import archive
from podium.snapshot.dumps import Dump
from podium.snapshot.model import Snapshot

_SUFFIXES: Final = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")


def load(path: str | Path) -> Snapshot:
    """Return the snapshot in this file, or in all files below this directory.

    Raise ``InvalidSnapshot`` if something cannot be read. Kinds that are not there are listed in
    ``missing``, with what may differ because of that.
    """
    path = Path(path)
    if path.is_dir():
        return _from_directory(path)
    data = _read(path)
    if archive.is_archive(data):
        return archive.parse(data, str(path))
    dump = Dump()
    dump.add(data, str(path))
    return dump.snapshot(str(path))


def _from_directory(path: Path) -> Snapshot:
    found, dump = _files(path), Dump()
    if not found:
        raise InvalidSnapshot(str(path), f"a directory without files *{', *'.join(_SUFFIXES[:3])}")
    for file in found:
        data = _read(file)
        if archive.is_archive(data):
            raise InvalidSnapshot(str(file), "a whole snapshot: give this file, not its directory")
        dump.add(data, str(file))
    return dump.snapshot(str(path))


def _files(path: Path) -> list[Path]:
    try:
        found = (each for each in path.rglob("*") if each.name.endswith(_SUFFIXES))
        return sorted(each for each in found if each.is_file())
    except OSError as error:
        raise InvalidSnapshot(str(path), f"cannot be read: {error.strerror}") from error


def _read(path: Path) -> bytes:
    """Return the decompressed bytes of a file."""
    try:
        return files.read(path)
    except PodiumError as error:
        raise InvalidSnapshot(str(path), str(error)) from error
