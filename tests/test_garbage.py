"""What is made without the collector is old afterwards, and garbage once nothing refers to it."""

import gc
import weakref

import pytest

from podium.garbage import without_collector

OLDEST = 2


class Node:
    """An object in a cycle, which only the collector frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def unfrozen():
    """A collector as in a program that keeps nothing from it."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("unfrozen")
def test_what_was_made_is_old():
    with without_collector():
        assert not gc.isenabled()
        made = Node()

    assert gc.isenabled()
    assert any(each is made for each in gc.get_objects(OLDEST))


@pytest.mark.usefixtures("unfrozen")
def test_what_was_made_is_freed_when_it_is_garbage():
    with without_collector():
        made = weakref.ref(Node())
    gc.collect()
    assert made() is None


def test_a_collector_that_was_paused_stays_so():
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_kept_from_the_collector_stays_so():
    gc.freeze()
    before = gc.get_freeze_count()
    with without_collector():
        pass
    assert gc.get_freeze_count() == before
