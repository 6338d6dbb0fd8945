"""Snapshots: everything that scheduling decisions depend on, as one value and as one file.

``load`` reads files of many kinds and ``write`` writes podium's own; ``connect`` and
``read_cluster`` take a snapshot of a running cluster. The latter two are loaded on first use,
because an HTTP client takes long to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from podium.snapshot.archive import write
from podium.snapshot.loading import load, streamed
from podium.snapshot.model import KindName, Missing, ObjectStream, Snapshot

if TYPE_CHECKING:
    from podium.snapshot.reading import connect, read_cluster

__all__ = [
    "KindName",
    "Missing",
    "ObjectStream",
    "Snapshot",
    "connect",
    "load",
    "read_cluster",
    "streamed",
    "write",
]

_LOADED_LATER = ("connect", "read_cluster")


def __getattr__(name: str) -> Any:
    if name not in _LOADED_LATER:
        raise AttributeError(f"module 'podium.snapshot' has no attribute {name!r}")
    return getattr(import_module("podium.snapshot.reading"), name)
