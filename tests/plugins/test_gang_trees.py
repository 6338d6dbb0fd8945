"""GangScheduling with CompositePodGroup: it counts over the whole tree of a pod."""

import pytest

from podium import framework as fwk
from tests.plugins.test_gang_scheduling import plugin_of
from tests.support.groups import TREES, GroupWorld, composite, group, member

NO_QUORUM = 'waiting for composite pod group "root" tree to meet quorum'
MISSING = "composite pod group object not found in state for compositepodgroup/default"
TWO = [composite(min_groups=2), group("a", min_count=2, parent="root"), group("b", parent="root")]


def deep(levels):
    """Composite groups c1, c2 and so on, each in the one before."""
    return [composite(f"c{n}", parent=f"c{n - 1}" if n > 1 else "") for n in range(1, levels + 1)]


@pytest.mark.parametrize(
    ("objects", "pod", "expected"),
    [
        pytest.param([group("a", min_count=2)], "a", "waiting for minCount pods from a gang to "
                     "appear in scheduling queue", id="no-parent"),
        pytest.param(TWO, "a", NO_QUORUM, id="nothing-ready"),
        pytest.param([*TWO, member("a2", "a")], "a", NO_QUORUM, id="one-of-two"),
        pytest.param([*TWO, member("a2", "a"), member("b1", "b")], "a", "", id="both"),
        pytest.param([composite(), *TWO[1:]], "b", "", id="own-group-is-enough"),
        pytest.param([composite(), *TWO[1:], member("b1", "b")], "a", "", id="another-is-enough"),
        pytest.param([group("a", parent="root")], "a",
                     f"failed to build hierarchy snapshot: {MISSING}/root", id="no-root"),
        pytest.param([*deep(4), group("a", parent="c4")], "a", "", id="five-levels"),
        pytest.param([*deep(5), group("a", parent="c5")], "a",
                     f"failed to build hierarchy snapshot: {MISSING}/c5", id="six-levels"),
    ],
)  # fmt: skip
def test_pre_enqueue(objects, pod, expected):
    world = GroupWorld(*TREES)
    world.add(*objects, member("first", pod))

    status = plugin_of(world).pre_enqueue(member("first", pod))

    assert status.message == expected
    assert status.ok is (not expected)


@pytest.mark.parametrize(
    ("running", "is_enough"),
    [(["a1", "a2", "b1"], True), (["a1", "a2"], False), (["a1", "b1"], False)],
)
def test_permit_counts_pods_with_a_node_in_the_whole_tree(running, is_enough):
    world = GroupWorld(*TREES)
    world.add_nodes("n")
    world.add(*TWO, *(member(name, name[0], node="n") for name in running))

    answer = plugin_of(world).permit(None, member("a9", "a"), "n")

    assert answer == (fwk.SUCCESS if is_enough else fwk.wait(300.0, NO_QUORUM))


def hints(world):
    found = {}
    for each in plugin_of(world).events_to_register():
        found[each.event.label] = each.hint
    return found


@pytest.mark.parametrize(
    ("event", "old", "new", "expected"),
    [
        ("UnscheduledPodAdd", None, member("b1", "b"), True),
        ("UnscheduledPodAdd", None, member("c1", "c"), False),
        ("AssignedPodAdd", None, member("b1", "b"), True),
        ("PodGroupAdd", None, group("b", parent="root"), True),
        ("PodGroupAdd", None, group("c"), False),
        ("CompositePodGroupAdd", None, composite(), True),
        ("PodGroupUpdate", group("b", min_count=3), group("b", min_count=2, parent="root"), True),
        ("PodGroupUpdate", group("b", min_count=2), group("b", min_count=3, parent="root"), False),
    ],
)
def test_what_wakes_the_members_of_a_tree(event, old, new, expected):
    world = GroupWorld(*TREES)
    world.add(*TWO, group("c"))
    by_label = {label.rpartition("/")[2]: hint for label, hint in hints(world).items()}

    assert by_label[event](member("a1", "a"), old, new) is expected
