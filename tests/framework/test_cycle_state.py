import pytest

from podium.errors import PodiumError, StateNotFound
from podium.framework.cycle_state import CycleState, PodsToActivate
from podium.testing.builders import pod


class Counter:
    """Changed by dry runs."""

    def __init__(self, count=0):
        self.count = count

    def clone(self):
        return Counter(self.count)


class Fixed:
    """Never changed after it was put."""


def filled():
    state = CycleState()
    state.put(Counter(1))
    state.put(Fixed())
    state.skip_filter = frozenset("F")
    state.skip_score = frozenset("S")
    state.skip_pre_bind = frozenset("B")
    return state


def test_value_is_found_by_its_type():
    state = CycleState()
    value = Counter()
    state.put(value)

    assert state.get(Counter) is value
    assert state.find(Counter) is value


def test_last_value_of_a_type_wins():
    state = CycleState()
    state.put(Counter(1))
    state.put(Counter(2))

    assert state.get(Counter).count == 2


def test_missing_value_is_a_fault_with_upstreams_text():
    with pytest.raises(StateNotFound, match=r"^not found$") as caught:
        CycleState().get(Counter)

    assert isinstance(caught.value, PodiumError)
    assert caught.value.kind is Counter


def test_missing_value_may_be_looked_for():
    assert CycleState().find(Counter) is None


def test_dropped_value_is_gone():
    state = filled()
    state.drop(Counter)
    state.drop(Counter)  # again is fine

    assert state.find(Counter) is None


def test_clone_copies_what_can_change_and_shares_the_rest():
    state = filled()
    copy = state.clone()
    copy.get(Counter).count = 7

    assert state.get(Counter).count == 1
    assert copy.get(Fixed) is state.get(Fixed)


def test_fork_shares_values_but_not_the_store():
    state = filled()
    fork = state.fork()
    fork.put(Counter(7))
    fork.drop(Fixed)

    assert state.get(Counter).count == 1
    assert state.find(Fixed) is not None


@pytest.mark.parametrize("copied", [CycleState.clone, CycleState.fork], ids=["clone", "fork"])
def test_skips_come_along(copied):
    copy = copied(filled())

    assert (copy.skip_filter, copy.skip_score, copy.skip_pre_bind) == ({"F"}, {"S"}, {"B"})


@pytest.mark.parametrize("copied", [CycleState.clone, CycleState.fork], ids=["clone", "fork"])
def test_a_copys_skips_are_its_own(copied):
    state = filled()
    copy = copied(state)
    copy.skip_filter = frozenset("other")

    assert state.skip_filter == {"F"}


def test_pods_to_activate_are_one_list_for_all_clones():
    state = CycleState()
    state.put(PodsToActivate())
    other = pod("other")
    state.clone().get(PodsToActivate).pods[other.key] = other

    assert state.get(PodsToActivate).pods == {"default/other": other}
