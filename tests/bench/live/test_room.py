"""The nodes that a loop that only binds takes in turn, and the pods that it deletes for others."""

import pytest

from podium.bench.live.room import Rooms
from podium.testing import node, pod


@pytest.fixture
def rooms():
    made = Rooms()
    for name in ("a", "b", "c"):
        made.see_node(None, node(name, cpu="4"))
    return made


def test_nodes_come_in_turn(rooms):
    names = [rooms.take(pod(f"p{number}", cpu="9"))[0] for number in range(6)]

    assert sorted(names) == ["a", "a", "b", "b", "c", "c"]
    assert names[:3] == names[3:]


def test_no_pod_leaves_for_one_of_the_same_priority(rooms):
    for number in range(3):
        rooms.see_pod(None, pod(f"low-{number}", cpu="4", priority=5, node="abc"[number]))

    assert rooms.take(pod("new", cpu="4", priority=5))[1] == []


def test_as_many_leave_as_make_room(rooms):
    for name in ("a", "b", "c"):
        for number in range(4):
            rooms.see_pod(None, pod(f"{name}-{number}", cpu="1", priority=number, node=name))

    chosen, victims = rooms.take(pod("new", cpu="2", priority=10))

    assert [victim.name for victim in victims] == [f"{chosen}-0", f"{chosen}-1"]


def test_a_node_is_left_out_where_the_pod_has_no_room_at_all(rooms):
    for name in ("a", "b"):
        rooms.see_pod(None, pod(f"high-{name}", cpu="4", priority=20, node=name))
    rooms.see_pod(None, pod("low", cpu="4", node="c"))

    found = rooms.take(pod("new", cpu="4", priority=10))

    assert (found[0], [victim.name for victim in found[1]]) == ("c", ["low"])


def test_room_is_used_once_and_comes_back(rooms):
    rooms.see_pod(None, pod("low", cpu="1", priority=-1, node="a"))
    placed = [rooms.take(pod(f"p{number}", cpu="4")) for number in range(3)]
    assert sorted((name, len(victims)) for name, victims in placed) == [
        ("a", 1), ("b", 0), ("c", 0),
    ]  # fmt: skip

    rooms.see_pod(pod("p1", cpu="4"), None)
    rooms.see_pod(None, pod("low-2", cpu="1", priority=-1, node=placed[1][0]))

    name, victims = rooms.take(pod("p3", cpu="3"))
    assert (name, victims) == (placed[1][0], [])


def test_a_node_that_is_gone_is_not_taken(rooms):
    rooms.see_node(node("b"), None)

    assert {rooms.take(pod(f"p{number}"))[0] for number in range(4)} == {"a", "c"}
    assert not rooms.is_empty
