"""The allocator against a model that tries everything, and against itself without anything kept."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from podium.api.quantity import parse
from podium.devices import FAILED, FOUND, DeviceTotals, groups
from podium.errors import AllocationError
from podium.release import RELEASES
from podium.testing.builders import node
from tests.support.allocation_model import Model, Place
from tests.support.devices import Devices, allocation, rules
from tests.support.generated_devices import CLASSES, DRIVERS, one_in, some_claim, some_pool

HERE = {"node": "n1"}


@st.composite
def some_pools(draw):
    """The slices of a node, with its devices in the order of the search."""
    slices, places = [], []
    for driver in DRIVERS:
        for pool in draw(st.sampled_from((["p"], ["p", "q"]))):
            made = draw(some_pool(driver, pool, HERE, max_devices=2))
            counters = {
                (each.name, name): parse(counter.value)
                for given in made
                for each in given.spec.shared_counters
                for name, counter in each.counters.items()
            }
            places += [
                Place(driver, pool, device, counters)
                for given in made
                for device in given.spec.devices
            ]
            slices += draw(st.permutations(made))
    return slices, places


@st.composite
def some_holdings(draw, places):
    """What others hold: devices alone or shares of them, as often as allowed."""
    found = []
    for place in places:
        if not draw(one_in(6)):
            continue
        fields = {}
        if place.is_shareable and draw(st.booleans()):
            fields = {"shareID": "s"}
            if place.device.capacity:
                fields["consumedCapacity"] = {"memory": "1"}
        found.append(allocation(place.device.name, driver=place.driver, pool=place.pool, **fields))
    return found


@given(st.data())
def test_the_search_finds_what_the_model_finds(data):
    slices, places = data.draw(some_pools())
    held = data.draw(some_holdings(places))
    claims = [data.draw(some_claim(f"c{n}")) for n in range(data.draw(st.integers(1, 2)))]
    devices = Devices(*slices, classes=CLASSES)
    for each in held:
        devices.taken.add(each)

    found = devices.allocate(*claims)

    results = [result for each in held for result in each.devices.results]
    expected = Model(places, devices.classes, results).allocate(claims)
    assert as_pairs(found) == expected


def as_pairs(found):
    if found is None:
        return None
    return [
        [(each.request, (each.driver, each.pool, each.device)) for each in one.devices.results]
        for one in found
    ]


@given(st.data())
def test_nothing_is_given_twice(data):
    slices, places = data.draw(some_pools())
    devices = Devices(*slices, classes=CLASSES)
    results = []
    for number in range(6):
        found = devices.allocate(data.draw(some_claim(f"c{number}")))
        for each in found or ():
            devices.taken.add(each)
            results += [result for result in each.devices.results if not result.admin_access]

    alone = Counter((r.driver, r.pool, r.device) for r in results if r.share_id is None)
    assert max(alone.values(), default=1) == 1
    assert not alone.keys() & {(r.driver, r.pool, r.device) for r in results if r.share_id}
    assert Model(places, devices.classes, results).has_counters([])
    check_sums(places, results)


def check_sums(places, results):
    """No capacity and no counter is exceeded."""
    used = {(r.driver, r.pool, r.device) for r in results}
    for place in places:
        for name, capacity in place.device.capacity.items():
            shares = [
                parse(result.consumed_capacity.get(name, 0))
                for result in results
                if result.share_id and (result.driver, result.pool, result.device) == place.id
            ]
            assert sum(shares) <= parse(capacity.value)
        for counter, total in place.counters.items():
            assert total >= sum(
                parse(consumption.counters[counter[1]].value)
                for other in places
                if other.id in used and (other.driver, other.pool) == (place.driver, place.pool)
                for consumption in other.device.consumes_counters
            )


class Kept(RuleBasedStateMachine):
    """What is kept for groups of nodes is what a new allocator finds for each node alone."""

    release = RELEASES[-1]

    def __init__(self):
        super().__init__()
        self.rules = rules(self.release)
        self.devices = Devices(classes=CLASSES, rules=self.rules)
        self.devices.inventory.set_node(0, None)
        self.totals = self.totals_of(self.devices)
        self.nodes = {}
        self.slices = {}
        self.held = []
        self.claims = []

    @rule(data=st.data(), row=st.integers(0, 3), zone=st.sampled_from("ab"))
    def set_node(self, data, row, zone):
        self.nodes[row] = node(f"n{row}", labels={"zone": zone})
        self.devices.inventory.set_node(row, self.nodes[row])

    @rule(row=st.integers(0, 3))
    def remove_node(self, row):
        self.nodes.pop(row, None)
        self.devices.inventory.set_node(row, None)

    @rule(data=st.data(), row=st.integers(0, 3), driver=st.sampled_from(DRIVERS))
    def publish(self, data, row, driver):
        """A driver publishes the devices of a node; some slices may be late."""
        made = data.draw(some_pool(driver, f"n{row}", {"node": f"n{row}"}, max_devices=2))
        self.set_slices(made[: data.draw(st.integers(1, len(made)))])

    @rule(data=st.data(), zone=st.sampled_from(("", "a", "b")))
    def publish_for_many(self, data, zone):
        term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
        where = {"node_selector": {"nodeSelectorTerms": [term]}} if zone else {"all_nodes": True}
        self.set_slices(data.draw(some_pool(DRIVERS[0], "shared", where, max_devices=2)))

    def set_slices(self, slices):
        for given_ in slices:
            self.slices[given_.name] = given_
            self.devices.inventory.set_slice(given_)

    @rule(data=st.data())
    def remove_slice(self, data):
        if self.slices:
            name = data.draw(st.sampled_from(sorted(self.slices)))
            del self.slices[name]
            self.devices.inventory.remove_slice(name)

    @rule(claim=some_claim())
    def ask_for(self, claim):
        self.claims = [*self.claims[-2:], claim]

    @rule(data=st.data())
    def take(self, data):
        if self.claims and self.nodes:
            row = data.draw(st.sampled_from(sorted(self.nodes)))
            asked = [data.draw(st.sampled_from(self.claims))]
            outcome = self.devices.allocator.allocate_each(asked, np.array([row]))
            if outcome.endings[0] == FOUND:
                for each in self.devices.allocator.allocation_on(asked, row):
                    self.held.append(each)
                    self.devices.taken.add(each)

    @rule(data=st.data())
    def give_back(self, data):
        if self.held:
            index = data.draw(st.integers(0, len(self.held) - 1))
            self.devices.taken.remove(self.held.pop(index))

    def totals_of(self, devices):
        return DeviceTotals(devices.inventory, devices.taken, self.rules)

    def fresh(self):
        found = Devices(*self.slices.values(), classes=CLASSES, rules=self.rules)
        for each in self.held:
            found.taken.add(each)
        return found

    @invariant()
    def no_kept_count_is_wrong(self):
        rows, fresh = sorted(self.nodes), self.totals_of(self.fresh())
        for each in CLASSES:
            found = np.transpose(self.totals.on_rows(each, np.array(rows, np.intp))).tolist()
            assert found == [list(fresh.on_node(each, self.nodes[row])) for row in rows]

    @invariant()
    def nothing_kept_is_wrong(self):
        rows, fresh = sorted(self.nodes), self.fresh()
        for claim in self.claims:
            outcomes = self.devices.allocator.allocate_each([claim], np.array(rows, np.intp))
            for row, kind in zip(rows, outcomes.endings.tolist(), strict=True):
                try:
                    expected = fresh.allocator.allocate([claim], self.nodes[row])
                except AllocationError:
                    assert kind == FAILED
                    continue
                assert (kind == FOUND) == (expected is not None)
                if expected is not None:
                    found = self.devices.allocator.allocation_on([claim], row)
                    assert as_pairs(found) == as_pairs(expected)
                    assert found[0].node_selector == expected[0].node_selector


class KeptIn136(Kept):
    release = RELEASES[0]


class KeptTogether(Kept):
    """As above, with all users of a pool moved together, as if there were many."""

    def __init__(self):
        self.wide, groups._MANY_USERS = groups._MANY_USERS, 1
        super().__init__()

    def teardown(self):
        groups._MANY_USERS = self.wide


TestKept = Kept.TestCase
TestKeptIn136 = KeptIn136.TestCase
TestKeptTogether = KeptTogether.TestCase
