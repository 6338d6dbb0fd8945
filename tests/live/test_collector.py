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


class Timer:
    """The seconds that collections take: this many each."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.now = 0.0

    def __call__(self):
        self.now += self.seconds
        return self.now


def started(clock=None, seconds=0.0):
    ours = Collector(clock or FakeClock(), Timer(seconds))
    ours.start()
    return ours


def test_it_freezes_what_is_there_and_hands_back_at_the_end(collections):
    ours = started()
    assert (gc.isenabled(), gc.get_freeze_count() > 0) == (False, True)

    ours.stop()
    assert (gc.isenabled(), gc.get_freeze_count()) == (True, 0)


def test_it_collects_when_enough_was_allocated(collections):
    ours = started()
    before = len(collections)
    ours.between_slices()
    assert len(collections) == before

    kept = [[] for _ in range(ENOUGH)]
    ours.between_slices()
    ours.between_slices()
    ours.stop()
    assert collections[before:] == [0]
    assert len(kept) == ENOUGH


def test_it_collects_now_and_then_whatever_the_count_says(collections):
    """Objects that are freed count against new ones, so the count may stay low."""
    clock = FakeClock()
    ours = started(clock)
    before = len(collections)
    clock.advance(4 * slices._LONGEST_WAIT)
    ours.stop()
    clock.advance(10)

    assert collections[before:] == [0, 0, 0]


def test_what_survives_is_never_examined_again(collections):
    ours, kept = started(seconds=slices._FREEZE_AFTER / 2), []
    before, frozen = len(collections), gc.get_freeze_count()
    for _ in range(3):
        kept += [[] for _ in range(ENOUGH)]
        ours.between_slices()
    frozen = gc.get_freeze_count() - frozen
    ours.stop()

    assert collections[before:] == [0, 2, 0]
    assert frozen >= 2 * ENOUGH


def test_young_cycles_are_freed(collections):
    ours = started()
    kept = [[] for _ in range(ENOUGH)]
    alive = weakref.ref(Cyclic())
    ours.between_slices()
    ours.stop()

    assert alive() is None
    assert kept


class Cyclic:
    def __init__(self):
        self.itself = self
