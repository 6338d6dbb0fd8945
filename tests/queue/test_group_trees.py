"""Trees of groups in the queue: the root is queued, and pods move when their root changes."""

import pytest

from podium.state.group_trees import GroupTrees
from tests.queue.test_group_queue import GATE, fail, queues
from tests.support.groups import TREES, GroupWorld, composite, group, member


@pytest.fixture
def world():
    made = GroupWorld(*TREES)
    yield made
    made.check()


def tree(world):
    world.add(composite(), group("a", parent="root"), group("b", parent="root"))


def test_the_root_is_popped_with_the_members_of_all_groups(world):
    tree(world)
    world.add(member("a1", "a"), member("b1", "b"))

    queued = world.queue.pop_now()

    assert queued.key == "compositepodgroup/default/root"
    assert [one.pod.name for one in queued.members] == ["a1", "b1"]
    assert world.queue.pop_now() is None


def test_the_priority_is_that_of_the_root(world):
    world.add(composite(priority=1), group("a", parent="root", priority=9), group("z", priority=5))
    world.add(member("a1", "a"), member("z1", "z"))

    assert [world.queue.pop_now().group.name for _ in range(2)] == ["z", "root"]


def test_a_root_and_a_pod_group_of_the_same_name_are_apart(world):
    world.add(composite("x"), group("a", parent="x"), group("x"))
    world.add(member("a1", "a"), member("x1", "x"))

    popped = {world.queue.pop_now().key for _ in range(2)}

    assert popped == {"compositepodgroup/default/x", "podgroup/default/x"}


def test_a_gated_member_parks_the_whole_tree(world):
    tree(world)
    world.add(member("a1", "a"))
    assert queues(world, "a1") == ["active"]

    world.add(member("b1", "b", scheduling_gates=GATE))
    assert queues(world, "a1", "b1") == ["gated", "gated"]

    world.delete_group("b")
    assert queues(world, "a1", "b1") == ["active", "incomplete"]


def test_pods_wait_while_a_group_above_them_is_not_known(world):
    world.add(group("a", parent="inner"), composite("inner", parent="root"), member("a1", "a"))
    assert queues(world, "a1") == ["incomplete"]

    world.add(composite())
    assert queues(world, "a1") == ["active"]

    world.delete_composite("inner")
    assert queues(world, "a1") == ["incomplete"]


def test_a_tree_that_loses_a_group_is_held_back_if_it_is_not_enough_any_more(world):
    world.add(composite(min_groups=2), group("a", parent="root"), group("b", parent="root"))
    world.add(member("a1", "a"), member("b1", "b"))
    assert queues(world, "a1", "b1") == ["active", "active"]

    world.delete_group("b")

    assert queues(world, "a1", "b1") == ["gated", "incomplete"]


def test_a_root_that_is_deleted_during_the_attempt(world):
    tree(world)
    world.add(member("a1", "a"))
    queued = world.queue.pop_now()
    world.delete_composite("root")

    fail(world, queued)

    assert queues(world, "a1") == ["incomplete"]


def test_members_of_all_groups_return_together(world):
    tree(world)
    world.add(member("a1", "a"), member("b1", "b"))
    queued = world.queue.pop_now()
    world.add(member("b2", "b"))
    assert world.queue.pending().pending == 1

    fail(world, queued)

    assert queues(world, "a1", "b1", "b2") == ["backoff", "backoff", "backoff"]


def test_inspection_shows_each_pod_group_where_its_root_is(world):
    world.add(composite(min_groups=2), group("a", parent="root"), group("b", parent="root"))
    world.add(member("a1", "a"))

    [shown] = world.queue.inspection.groups()

    assert (shown.key, shown.state.queue, shown.members) == ("default/a", "gated", {"default/a1"})
    assert shown.state.pod == "compositepodgroup/default/root"


def named(groups):
    return [each.name for each in groups]


def test_trees_know_parents_and_children():
    trees = GroupTrees(has_composites=True)
    a, inner, root = group("a", parent="inner"), composite("inner", parent="root"), composite()
    for each in (a, inner):
        trees.put(each)
    assert trees.root(a) is None
    assert named(trees.lineage(a)) == ["a", "inner"]

    trees.put(root)
    assert trees.root(a) is root
    assert named(trees.leaves(root)) == ["a"]
    assert named(trees.children(root)) == ["inner"]

    trees.put(group("a"))  # deleted and created again, without a parent
    assert named(trees.leaves(root)) == []
    trees.check()


def test_a_circle_has_no_root_and_no_end():
    trees = GroupTrees(has_composites=True)
    x, y = composite("x", parent="y"), composite("y", parent="x")
    a = group("a", parent="x")
    for each in (x, y, a):
        trees.put(each)

    assert trees.root(a) is None
    assert named(trees.lineage(a)) == ["a", "x", "y"]
    assert named(trees.leaves(y)) == ["a"]


def test_without_composite_groups_parents_mean_nothing():
    trees = GroupTrees()
    a = group("a", parent="root")
    trees.put(a)

    assert trees.root(a) is a
    assert trees.leaves(composite()) == []
