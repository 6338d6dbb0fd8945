"""Where an answer comes from, and what it lacks."""

from __future__ import annotations

from typing import Literal

import msgspec

from podium.snapshot.model import Snapshot

SourceKind = Literal["scheduler", "cluster", "snapshot"]


class Source(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where an answer comes from.

    `recomputed` says that podium has worked the decision out again from what the cluster or the
    snapshot shows. An answer is partial if something is `missing`.
    """

    kind: SourceKind
    name: str
    recomputed: bool
    taken_at: str = ""
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def source_of(taken: Snapshot, kind: SourceKind) -> Source:
    """Return where answers about this snapshot come from."""
    return Source(
        kind=kind,
        name=taken.source,
        recomputed=True,
        taken_at=taken.taken_at,
        missing=tuple(map(str, taken.missing)),
        notes=taken.notes,
    )
