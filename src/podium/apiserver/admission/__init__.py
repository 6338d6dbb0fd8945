"""Admission: what happens to an object between its decoding and its validation, one file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from podium.apiserver.statuses import Json
from podium.apiserver.watches import Item


class Reader(Protocol):
    """What admission may look up; the store is one."""

    def find(self, resource: str, key: tuple[str, str]) -> Item | None: ...

    def objects(self, resource: str) -> list[Json]: ...


# Called with the new object, the old one (None on creation) and what it may read.
Admission = Callable[[Json, Json | None, Reader], None]
