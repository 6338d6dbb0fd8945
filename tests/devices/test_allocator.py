"""Searches are shared between equal nodes, and kept until something changes."""

import numpy as np
import pytest

from podium.devices import FAILED, FOUND, REFUSED, TIMED_OUT, DeviceTotals
from podium.devices import allocator as module
from podium.devices import groups as groups_module
from podium.errors import AllocationError
from podium.testing.builders import node
from podium.testing.builders_devices import device, device_class, resource_slice
from tests.support.devices import Devices, allocation, claim, exactly, names

SERIAL = 'device.attributes["gpu.example.com"].serial'
COUNT = 20


@pytest.fixture
def searches(monkeypatch):
    """The nodes on which a search began."""
    found = []

    class Counting(module.Search):
        def run(self):
            found.append(self._devices)
            return super().run()

    monkeypatch.setattr(module, "Search", Counting)
    return found


def cluster(count=COUNT, devices=2, **fields):
    return Devices(
        *(resource_slice(f"s{n}", node=f"n{n}", devices=devices) for n in range(count)),
        nodes=[node(f"n{n}") for n in range(count)],
        **fields,
    )


def test_equal_nodes_are_searched_once(searches):
    devices = cluster()

    outcomes = devices.allocator.allocate_each([claim()], devices.rows)

    assert (outcomes.endings == FOUND).all()
    assert len(searches) == 1
    for row in (0, 7, COUNT - 1):
        (found,) = devices.allocator.allocation_on([claim()], row)
        (result,) = found.devices.results
        assert (result.pool, result.device) == (f"n{row}", "gpu-0")
        assert found.node_selector.node_selector_terms[0].match_fields[0].values == (f"n{row}",)
    assert len(searches) == 1


def test_only_what_changed_is_searched_again(searches):
    devices = cluster()
    for number in range(COUNT):
        name = f"c{number}"
        devices.allocator.allocate_each([claim(name=name)], devices.rows)
        for found in devices.allocator.allocation_on([claim(name=name)], number):
            devices.taken.add(found)

    # All devices free, and the first one taken.
    assert len(searches) == 2
    (found,) = devices.allocator.allocation_on([claim()], 3)
    assert names(found) == "r=gpu-1"


def test_attributes_of_their_own_make_nodes_different(searches):
    devices = Devices(
        *(
            resource_slice(f"s{n}", node=f"n{n}", devices=[device(attributes={"serial": n})])
            for n in range(3)
        ),
        nodes=[node(f"n{n}") for n in range(3)],
    )
    second = 'device.attributes["gpu.example.com"].serial == 1'

    outcomes = devices.allocator.allocate_each([claim(exactly(selectors=[second]))], devices.rows)

    assert outcomes.endings.tolist() == [REFUSED, FOUND, REFUSED]
    assert len(searches) == 3


def with_serials(count=4):
    """Nodes whose devices differ in a text."""
    slices = (
        resource_slice(f"s{n}", node=f"n{n}", devices=[device(attributes={"serial": f"x{n}"})])
        for n in range(count)
    )
    return Devices(*slices, nodes=[node(f"n{n}") for n in range(count)])


def test_texts_that_are_not_read_make_no_difference(searches):
    devices = with_serials()

    outcomes = devices.allocator.allocate_each([claim()], devices.rows)

    assert (outcomes.endings == FOUND).all()
    assert len(searches) == 1


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"selectors": [f'{SERIAL} == "x1"']}, id="selector"),
        pytest.param({"cls": "second"}, id="class"),
    ],
)
def test_texts_are_told_apart_once_they_are_read(wanted, searches):
    devices = with_serials()
    devices.classes["second"] = device_class("second", selectors=[f'{SERIAL} == "x1"'])
    devices.allocator.allocate_each([claim()], devices.rows)

    outcomes = devices.allocator.allocate_each([claim(exactly(**wanted))], devices.rows)

    assert outcomes.endings.tolist() == [REFUSED, FOUND, REFUSED, REFUSED]
    assert (devices.allocator.allocate_each([claim()], devices.rows).endings == FOUND).all()


def test_totals_tell_texts_apart():
    devices = with_serials()
    second = device_class("second", selectors=[f'{SERIAL} == "x1"'])
    totals = DeviceTotals(devices.inventory, devices.taken, devices.inventory.rules)

    total, _ = totals.on_rows(second, devices.rows)

    assert total.tolist() == [0, 1, 0, 0]


def test_a_changed_class_counts_at_once(searches):
    devices = cluster(2)
    devices.allocator.allocate_each([claim()], devices.rows)

    devices.classes["gpu"] = device_class(selectors=["false"])
    outcomes = devices.allocator.allocate_each([claim()], devices.rows)

    assert (outcomes.endings == REFUSED).all()
    assert len(searches) == 2


def test_some_rows():
    devices = cluster(4)
    devices.take("gpu-0", "gpu-1", pool="n2")

    outcomes = devices.allocator.allocate_each([claim()], np.array([1, 2]))

    assert outcomes.endings.tolist() == [FOUND, REFUSED]
    assert devices.allocator.allocate_each([claim()], np.array([], np.intp)).endings.tolist() == []
    with pytest.raises(AllocationError, match="cannot allocate all claims"):
        devices.allocator.allocation_on([claim()], 2)


def test_a_pool_for_all_nodes_is_searched_once(searches):
    devices = Devices(
        resource_slice("shared", devices=3), nodes=[node(f"n{n}") for n in range(COUNT)]
    )

    for expected in ("r=gpu-0", "r=gpu-1", "r=gpu-2"):
        assert (devices.allocator.allocate_each([claim()], devices.rows).endings == FOUND).all()
        (found,) = devices.allocator.allocation_on([claim()], 5)
        assert names(found) == expected
        devices.taken.add(found)

    assert (devices.allocator.allocate_each([claim()], devices.rows).endings == REFUSED).all()
    assert len(searches) == 4


def test_errors_are_those_of_each_node():
    devices = cluster(2)
    asked = [claim(exactly(selectors=['device.attributes["gpu.example.com"].a']))]

    outcomes = devices.allocator.allocate_each(asked, devices.rows)

    assert outcomes.endings.tolist() == [FAILED, FAILED]
    for row in (0, 1):
        with pytest.raises(AllocationError, match=f"on device gpu.example.com/n{row}/gpu-0: "):
            devices.allocate(*asked, on=row)


def test_the_message_names_the_claim_that_asks():
    devices = cluster(1)
    wrong = exactly(selectors=["device.driver.foo"])
    for name in ("a", "b"):
        asked = [claim(wrong, name=name)]
        assert devices.allocator.allocate_each(asked, devices.rows).endings[0] == FAILED
        with pytest.raises(AllocationError, match=f"claim default/{name}: selector #0"):
            devices.allocate(*asked)


def test_after_a_timeout_the_search_is_tried_again():
    now = [0.0]

    def timer():
        now[0] += 1
        return now[0]

    devices = cluster(3, timer=timer)
    devices.take("gpu-0", pool="n1")

    assert (
        devices.allocator.allocate_each([claim()], devices.rows, 0.5).endings.tolist()
        == [TIMED_OUT] * 3
    )
    assert (
        devices.allocator.allocate_each([claim()], devices.rows, 1e9).endings.tolist()
        == [FOUND] * 3
    )


def test_many_shapes_and_many_groups_take_no_more_memory(monkeypatch):
    monkeypatch.setattr(groups_module, "_MAX_UNUSED_GROUPS", 10)
    devices = cluster(2, devices=6)
    for number in range(200):
        asked = [claim(exactly(f"r{number}"))]
        held = allocation(f"gpu-{number % 6}", f"gpu-{number // 6 % 6}")
        devices.taken.add(held)
        devices.allocator.allocate_each(asked, devices.rows)
        devices.taken.remove(held)

    assert len(devices.allocator._kept) <= 64
    assert len(devices.allocator._groups) <= 10 + 4 * 2 + 2


def test_a_slice_that_does_not_change_changes_nothing():
    devices = cluster(2)
    devices.allocator.allocate_each([claim()], devices.rows)
    version = devices.inventory.version

    devices.inventory.set_slice(resource_slice("s0", node="n0", devices=2))
    devices.inventory.set_node(0, node("n0"))
    devices.inventory.remove_slice("unknown")
    devices.inventory.refresh()

    assert devices.inventory.version == version


def test_numbers_of_devices_are_used_again():
    devices = cluster(3)
    for number in range(10):
        devices.inventory.set_slice(resource_slice("s0", node="n0", devices=number + 3))
        devices.inventory.refresh()

    assert len(devices.inventory.devices_by_number) <= 4
