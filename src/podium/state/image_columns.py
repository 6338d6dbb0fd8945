"""The container images that nodes hold, by name: how large, and on which rows.

Most clusters have thousands of image names, each on a few nodes or on nearly all. The rows of a
name are the bits of one integer, which is small in both cases; ``column`` turns it into a mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.nodes import ContainerImage

Images = tuple[ContainerImage, ...]
_MOST_ADDED: Final = 1024


class HeldImage:
    """One image name and the rows that hold it.

    ``size_bytes`` is the size that the first node reported; what other nodes report is ignored.
    ``ImageColumns.find`` brings it up to date: ask again in each cycle.
    Rows in ``_added`` are not in ``_bits`` yet: most images are never asked for, and changing the
    bits takes longer the more nodes there are.
    """

    __slots__ = ("_added", "_bits", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._bits = 0
        self._added: list[int] = []

    @property
    def bits(self) -> int:
        """Return the rows that hold the image, as the bits of an integer."""
        if self._added:
            flags = np.zeros(max(self._added) + 1, np.bool_)
            flags[self._added] = True
            packed = np.packbits(flags, bitorder="little")
            self._bits |= int.from_bytes(packed.tobytes(), "little")
            self._added = []
        return self._bits

    @property
    def spread(self) -> int:
        """Return how many nodes hold the image."""
        return self.bits.bit_count()

    def is_on(self, row: int) -> bool:
        return bool(self.bits >> row & 1)

    def column(self, capacity: int) -> NDArray[np.bool_]:
        """Return a mask of the rows that hold the image."""
        packed = np.frombuffer(self.bits.to_bytes(capacity // 8 + 1, "little"), np.uint8)
        return np.unpackbits(packed, bitorder="little").view(np.bool_)

    def add(self, row: int) -> None:
        self._added.append(row)
        if len(self._added) == _MOST_ADDED:
            self._bits = self.bits

    def remove(self, row: int) -> bool:
        """Remove a row; return whether none is left."""
        self._bits = self.bits & ~(1 << row)
        return not self._bits


class ImageColumns:
    """All image names that at least one node holds. Only ``NodeTable`` writes here.

    Invariant: a row is in ``_images`` under the names of its images, or its images are in
    ``_pending``, in the order in which they were set. ``find`` enters all of these, since many
    simulations never ask for an image.
    """

    def __init__(self) -> None:
        self._images: dict[str, HeldImage] = {}
        self._pending: dict[int, Images] = {}

    def find(self, name: str) -> HeldImage | None:
        self._enter_pending()
        return self._images.get(name)

    def set(self, row: int, old: Images, new: Images) -> None:
        """Replace the old images of a row by the new ones.

        A name that only this row has is removed first, so that it gets its new size.
        """
        if row == next(reversed(self._pending), None):  # nothing was entered yet
            del self._pending[row]
        elif old:
            self._enter_pending()
            for name in _named(old):
                held = self._images.get(name)
                if held is not None and held.remove(row):
                    del self._images[name]
        if new:
            self._pending[row] = new

    def _enter_pending(self) -> None:
        pending, self._pending = self._pending, {}
        for row, images in pending.items():
            for image in images:
                for name in image.names:
                    held = self._images.get(name)
                    if held is None:
                        held = self._images[name] = HeldImage(image.size_bytes)
                    held.add(row)

    def check(self, images: list[Images]) -> None:
        """Raise ``AssertionError`` when this differs from the images of each row's node."""
        bits: dict[str, int] = {}
        for row, held in enumerate(images):
            for name in _named(held):
                bits[name] = bits.get(name, 0) | 1 << row
        self._enter_pending()
        now = {name: held.bits for name, held in self._images.items()}
        assert now == bits, "images are not where the nodes say they are"


def _named(images: Images) -> Iterator[str]:
    """Return every name of every image."""
    return (name for image in images for name in image.names)
