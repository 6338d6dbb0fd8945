"""Python's garbage collector rests while much is made that stays: modules, and whole clusters."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause the collector, which would look at all objects again and again and find no garbage.

    Afterwards they count as old: as young ones, all would be looked at with the next allocation.
    Where somebody else has paused the collector or keeps objects from it, that stays as it is.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()
