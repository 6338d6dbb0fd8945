"""Changes pass in order, none while a cycle is open, none lost."""

import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.live.gate import Gate


def test_an_open_gate_lets_changes_through_at_once():
    gate, made = Gate(), []

    gate.pass_through(made.append, 1)

    assert made == [1]


def test_a_closed_gate_holds_changes_back_in_order():
    gate, made = Gate(), []

    with gate.closed():
        gate.pass_through(made.append, 1)
        gate.pass_through(made.append, 2)
        assert made == []
        assert len(gate) == 2

    assert made == [1, 2]
    assert len(gate) == 0


def test_a_cycle_that_fails_opens_the_gate_again():
    gate, made = Gate(), []

    def cycle():
        with gate.closed():
            gate.pass_through(made.append, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cycle()

    assert made == [1]
    assert not gate.is_closed


def test_cycles_do_not_overlap():
    gate = Gate()

    with gate.closed(), pytest.raises(RuntimeError, match="only one cycle"), gate.closed():
        pass


def fail():
    raise ZeroDivisionError("broken handler")


def test_a_change_that_fails_is_logged_and_costs_no_other(caplog):
    gate, made = Gate(), []

    with caplog.at_level(logging.ERROR), gate.closed():
        gate.pass_through(fail)
        gate.pass_through(made.append, 1)
    gate.pass_through(fail)

    assert made == [1]
    assert len(caplog.records) == 2


def test_what_a_held_change_sets_off_lines_up_behind_the_others():
    gate, made = Gate(), []

    def first():
        made.append(1)
        gate.pass_through(made.append, 3)

    with gate.closed():
        gate.pass_through(first)
        gate.pass_through(made.append, 2)

    assert made == [1, 2, 3]


@given(st.lists(st.one_of(st.integers(), st.lists(st.integers()))))
def test_the_order_of_arrival_is_the_order_of_change(story):
    """A number arrives while the gate is open, a list of numbers during one cycle."""
    gate, made, arrived = Gate(), [], []
    for part in story:
        if isinstance(part, int):
            arrived.append(part)
            gate.pass_through(made.append, part)
            continue
        with gate.closed():
            before = list(made)
            for number in part:
                arrived.append(number)
                gate.pass_through(made.append, number)
            assert made == before

    assert made == arrived


def test_other_threads_are_sent_away():
    gate, made, faults = Gate(), [], []

    def call():
        try:
            gate.pass_through(made.append, 1)
        except RuntimeError as fault:
            faults.append(str(fault))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()

    assert made == []
    assert len(faults) == 1
    assert "handle.activate" in faults[0]
