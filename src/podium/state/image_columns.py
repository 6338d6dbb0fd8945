"""The container images that nodes hold, by name: how large, and on which rows.

Most clusters know thousands of names, each on few nodes or on all of them; the rows of a name are
the bits of one integer, which is small either way and turns into a mask when a rule asks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from podium.api.nodes import ContainerImage

Images = tuple[ContainerImage, ...]


class HeldImage:
    """One name. ``size_bytes`` is what the first node said of it; later ones are not asked."""

    __slots__ = ("_bits", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._bits = 0

    @property
    def spread(self) -> int:
        """How many nodes hold it."""
        return self._bits.bit_count()

    def is_on(self, row: int) -> bool:
        return bool(self._bits >> row & 1)

    def column(self, capacity: int) -> NDArray[np.bool_]:
        """Which rows hold it."""
        packed = np.frombuffer(self._bits.to_bytes(capacity // 8 + 1, "little"), np.uint8)
        return np.unpackbits(packed, bitorder="little").view(np.bool_)

    def add(self, row: int) -> None:
        self._bits |= 1 << row

    def remove(self, row: int) -> bool:
        """True when no row is left."""
        self._bits &= ~(1 << row)
        return not self._bits


class ImageColumns:
    """Every name that some node holds. Only ``NodeTable`` writes here."""

    def __init__(self) -> None:
        self._images: dict[str, HeldImage] = {}

    def find(self, name: str) -> HeldImage | None:
        return self._images.get(name)

    def set(self, row: int, old: Images, new: Images) -> None:
        """The row held the old images and holds the new ones.

        A name that it alone held is forgotten in between, so that it takes on its new size.
        """
        for name, _ in _named(old):
            held = self._images.get(name)
            if held is not None and held.remove(row):
                del self._images[name]
        for name, size in _named(new):
            held = self._images.get(name)
            if held is None:
                held = self._images[name] = HeldImage(size)
            held.add(row)

    def check(self, images: list[Images]) -> None:
        """Raise ``AssertionError`` when this is not what the images on each row add up to."""
        bits: dict[str, int] = {}
        for row, held in enumerate(images):
            for name, _ in _named(held):
                bits[name] = bits.get(name, 0) | 1 << row
        now = {name: held._bits for name, held in self._images.items()}
        assert now == bits, "images are not where the nodes say they are"


def _named(images: Images) -> Iterator[tuple[str, int]]:
    """Every name of every image, with its size."""
    return ((name, image.size_bytes) for image in images for name in image.names)
