"""What is taken: counted from allocations, and never from anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.devices import TakenDevices
from podium.devices.taken import PoolKey
from podium.errors import CacheError
from tests.support.devices import allocation, rules

POOL = PoolKey("gpu.example.com", "n1")


def test_a_device_is_taken_until_the_allocation_is_removed():
    taken = TakenDevices(rules())
    held = allocation("a")

    taken.add(held)
    assert taken.is_taken(POOL, "a")
    assert not taken.is_taken(POOL, "b")

    taken.remove(held)
    assert not taken.is_taken(POOL, "a")
    assert taken.state(POOL) == 0


def test_shares_add_up():
    taken = TakenDevices(rules())
    for number, amount in enumerate(("1Gi", "2Gi")):
        taken.add(allocation("a", shareID=str(number), consumedCapacity={"memory": amount}))

    assert taken.use_of(POOL).amounts("a") == {"memory": 3 * 2**30 * 10**9}
    assert "a" not in taken.use_of(POOL).exclusive


def test_admin_access_takes_nothing():
    taken = TakenDevices(rules())
    changed = taken.changes()
    held = allocation("a", adminAccess=True)

    taken.add(held)
    taken.remove(held)

    assert not changed


def test_what_is_not_taken_cannot_be_removed():
    taken = TakenDevices(rules())
    taken.add(allocation("a", shareID="s"))

    with pytest.raises(CacheError, match=r"device gpu\.example\.com/n1/a is not taken"):
        taken.remove(allocation("a"))


def test_an_amount_that_cannot_be_read_does_not_count():
    taken = TakenDevices(rules())

    taken.add(allocation("a", shareID="s", consumedCapacity={"memory": "much", "cores": "1"}))

    assert taken.use_of(POOL).amounts("a") == {"cores": 10**9}


holdings = st.lists(
    st.builds(
        lambda device, pool, share, amount, admin: allocation(
            device,
            pool=pool,
            **({"shareID": share} if share else {}),
            **({"consumedCapacity": {"memory": amount}} if share and amount else {}),
            **({"adminAccess": True} if admin else {}),
        ),
        st.sampled_from("abc"),
        st.sampled_from(["n1", "n2"]),
        st.sampled_from(["", "s1", "s2"]),
        st.sampled_from(["", "0", "1", "500m"]),
        st.booleans(),
    ),
    max_size=8,
)


@given(holdings, holdings, st.booleans())
def test_remove_undoes_add(before, between, has_shares):
    taken = TakenDevices(rules(consumable_capacity=has_shares))
    for held in before:
        taken.add(held)
    pools = [POOL, PoolKey("gpu.example.com", "n2")]
    states = [taken.state(pool) for pool in pools]

    for held in between:
        taken.add(held)
    for held in between:
        taken.remove(held)

    assert [taken.state(pool) for pool in pools] == states
    fresh = TakenDevices(rules(consumable_capacity=has_shares))
    for held in before:
        fresh.add(held)
    for pool in pools:
        assert taken.use_of(pool).key() == fresh.use_of(pool).key()
