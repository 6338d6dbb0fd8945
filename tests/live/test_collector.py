"""The collector is the scheduler's while it runs, and Python's again afterwards."""

import gc
import weakref

import pytest

from podium.clock import FakeClock
from podium.live import slices
from podium.live.slices import Collector

ENOUGH = slices._MANY + 1000  # other objects that are freed meanwhile count against these


@pytest.fixture
def collections():
    """The generations collected while the test runs."""
    found = []

    def note(phase, info):
        if phase == "start":
            found.append(info["generation"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.enable()
    gc.unfreeze()


def test_it_freezes_what_is_there_and_hands_back_at_the_end(collections):
    ours = Collector(FakeClock())
    ours.start()
    assert (gc.isenabled(), gc.get_freeze_count() > 0) == (False, True)

    ours.stop()
    assert (gc.isenabled(), gc.get_freeze_count()) == (True, 0)
    assert collections == []


def test_it_collects_when_enough_was_allocated(collections):
    ours = Collector(FakeClock())
    ours.start()
    ours.between_slices()
    assert collections == []

    kept = [[] for _ in range(ENOUGH)]
    ours.between_slices()
    ours.between_slices()
    ours.stop()
    assert collections == [0]
    assert len(kept) == ENOUGH


def test_garbage_goes_also_while_no_pod_is_scheduled(collections):
    clock = FakeClock()
    ours = Collector(clock)
    ours.start()
    kept = [[] for _ in range(ENOUGH)]
    clock.advance(1)
    ours.stop()
    clock.advance(10)

    assert collections == [0]
    assert len(kept) == ENOUGH


def test_what_survives_some_collections_is_never_examined_again(collections):
    ours, kept = Collector(FakeClock()), []
    ours.start()
    before = gc.get_freeze_count()
    for _ in range(slices._COLLECTIONS_PER_FREEZE):
        kept += [[] for _ in range(ENOUGH)]
        ours.between_slices()
    frozen = gc.get_freeze_count() - before
    ours.stop()

    assert collections == [*[0] * (slices._COLLECTIONS_PER_FREEZE - 1), 2]
    assert frozen >= len(kept)


def test_young_cycles_are_freed(collections):
    ours = Collector(FakeClock())
    ours.start()
    for _ in range(ENOUGH):
        cycle = []
        cycle.append(cycle)
    alive = weakref.ref(Cyclic())
    ours.between_slices()
    ours.stop()

    assert alive() is None


class Cyclic:
    def __init__(self):
        self.itself = self
