"""Admission: changes and checks between decoding and validation, one file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from podium.apiserver.statuses import Json
from podium.apiserver.watches import Item


class Reader(Protocol):
    """What an admission may look up; the store implements it."""

    def find(self, resource: str, key: tuple[str, str]) -> Item | None: ...

    def objects(self, resource: str) -> list[Json]: ...


# Called with the new object, the old one (None on creation) and a reader.
Admission = Callable[[Json, Json | None, Reader], None]
