import pytest

from podium import framework as fwk
from podium.framework.nominator import Nominator
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod


def info(name, nominated="", **rest):
    return fwk.PodInfo(pod(name, status={"nominated_node_name": nominated}, **rest))


def on(nominator, node):
    return [found.pod.name for found in nominator.on(node)]


@pytest.mark.parametrize(
    ("status", "nominate", "expected"),
    [
        pytest.param("", None, None, id="nothing-says-so"),
        pytest.param("a", None, "a", id="as-the-status-says"),
        pytest.param("a", fwk.Nominate("b"), "b", id="as-told"),
        pytest.param("a", fwk.Nominate(""), None, id="told-nowhere"),
    ],
)
def test_add(status, nominate, expected):
    nominator = Nominator()
    nominator.add(info("web", status), nominate)

    assert nominator.node_of("uid-web") == expected
    assert len(nominator) == (expected is not None)
    assert on(nominator, "a") == (["web"] if expected == "a" else [])


def test_an_entry_is_replaced():
    nominator = Nominator()
    nominator.add(info("web", "a"))
    nominator.add(info("web"), fwk.Nominate("b"))

    assert (on(nominator, "a"), on(nominator, "b")) == ([], ["web"])
    assert len(nominator) == 1


def test_an_entry_goes_when_the_pod_wants_nothing_any_more():
    nominator = Nominator()
    nominator.add(info("web", "a"))
    nominator.add(info("web"))

    assert nominator.node_of("uid-web") is None
    assert on(nominator, "a") == []


def test_pods_of_a_node_stand_in_the_order_they_came():
    nominator = Nominator()
    for name in ("x", "y", "z", "x"):
        nominator.add(info(name, "a"))

    assert on(nominator, "a") == ["y", "z", "x"]


@pytest.mark.parametrize(
    ("memory", "old", "new", "expected"),
    [
        pytest.param("a", "", "", "a", id="known-only-here-is-kept"),
        pytest.param("a", "", "b", "b", id="a-new-status-wins"),
        pytest.param("a", "a", "", None, id="a-cleared-status-clears"),
        pytest.param("a", "a", "a", "a", id="unchanged"),
        pytest.param(None, "", "", None, id="nothing"),
        pytest.param(None, "", "b", "b", id="first-nomination"),
        pytest.param("", "", "", None, id="nowhere"),
    ],
)
def test_update(memory, old, new, expected):
    nominator = Nominator()
    if memory is not None:
        nominator.add(info("web"), fwk.Nominate(memory))

    nominator.update(info("web", new), old)

    assert nominator.node_of("uid-web") == expected


def test_update_keeps_the_new_version_of_the_pod():
    nominator = Nominator()
    nominator.add(info("web"), fwk.Nominate("a"))
    fresh = info("web", labels="v=2")
    nominator.update(fresh, "")

    assert nominator.on("a") == [fresh]


def test_remove():
    nominator = Nominator()
    nominator.add(info("web", "a"))
    nominator.remove("uid-web")
    nominator.remove("uid-web")  # again is fine

    assert len(nominator) == 0
    assert on(nominator, "a") == []


def table_of(*names):
    cluster = ClusterState()
    for name in names:
        cluster.set_node(node(name))
    return cluster.table


def ahead(nominator, subject, table=None):
    """The names of the pods that the subject must leave room for, by node."""
    table = table_of("a", "b", "c") if table is None else table
    found = nominator.ahead_of(subject, table)
    names = {}
    for info, row in zip(*found.on(found.rows), strict=True) if found is not None else ():
        names.setdefault(table.names[row], []).append(info.pod.name)
    return names


def test_who_must_be_left_room_for():
    nominator = Nominator()
    nominator.add(info("high", "a", priority=10))
    nominator.add(info("equal", "a", priority=5))
    nominator.add(info("low", "b", priority=1))
    nominator.add(info("none", "c"))
    nominator.add(info("me", "a", priority=5))

    assert ahead(nominator, pod("me", priority=5)) == {"a": ["high", "equal"]}
    assert ahead(nominator, pod("other", priority=-1)) == {
        "a": ["high", "equal", "me"],
        "b": ["low"],
        "c": ["none"],
    }
    assert ahead(nominator, pod("top", priority=11)) == {}


def test_version_moves_with_every_change():
    nominator = Nominator()
    versions = [nominator.version]
    for change in (
        lambda: nominator.add(info("web", "a")),
        lambda: nominator.add(info("web", "b")),
        lambda: nominator.update(info("web", "b"), "b"),
        lambda: nominator.remove("uid-web"),
    ):
        change()
        versions.append(nominator.version)

    assert versions == sorted(set(versions))
    nominator.remove("uid-web")
    assert nominator.version == versions[-1]
