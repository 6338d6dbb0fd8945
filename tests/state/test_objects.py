import pytest

from podium.api.objects import Namespace, ObjectMeta, Service, ServiceSpec
from podium.state.objects import ObjectStore


def service(name, namespace="default", **selector):
    return Service(metadata=ObjectMeta(name=name, namespace=namespace),
                   spec=ServiceSpec(selector=selector))  # fmt: skip


def test_objects_are_found_by_key_and_by_namespace():
    store = ObjectStore()
    web, db, other = service("web"), service("db"), service("web", "other")
    for obj in (web, db, other):
        assert store.set(obj) is None

    assert store.get("default/web") is web
    assert store.get("default/none") is None
    assert list(store.in_namespace("default")) == [web, db]
    assert list(store.in_namespace("none")) == []
    assert (list(store), len(store)) == ([web, db, other], 3)


def test_a_new_version_takes_the_place_of_the_old():
    store = ObjectStore()
    old, new = service("web"), service("web", app="web")
    store.set(old)

    assert store.set(new) is old
    assert (list(store), list(store.in_namespace("default"))) == ([new], [new])


def test_removing():
    store = ObjectStore()
    web = service("web")
    store.set(web)

    assert store.remove("default/web") is web
    assert store.remove("default/web") is None
    assert (len(store), list(store.in_namespace("default"))) == (0, [])


def test_objects_without_a_namespace():
    store = ObjectStore()
    team = Namespace(metadata=ObjectMeta(name="team"))
    store.set(team)

    assert store.get("team") is team
    assert list(store.in_namespace("")) == [team]


def test_the_version_moves_with_every_change_and_no_other():
    store = ObjectStore()
    versions = [store.version]
    store.set(service("web"))
    versions.append(store.version)
    store.set(service("web"))
    versions.append(store.version)
    store.remove("default/web")
    versions.append(store.version)
    store.remove("default/web")
    store.get("default/web")

    assert versions == sorted(set(versions))
    assert store.version == versions[-1]


@pytest.mark.parametrize(
    ("known", "shown", "is_late"),
    [
        pytest.param("9", "10", False, id="newer"),
        pytest.param("10", "9", True, id="older-as-numbers"),
        pytest.param("9", "9", False, id="the-same"),
        pytest.param("", "9", False, id="nothing-to-compare"),
        pytest.param("9", "", False, id="nothing-to-compare-with"),
        pytest.param("abc", "9", False, id="no-numbers"),
    ],
)
def test_versions_that_come_late(known, shown, is_late):
    store = ObjectStore()
    store.set(Namespace(metadata=ObjectMeta(name="team", uid="1", resource_version=known)))
    other = ObjectMeta(name="team", uid="1", resource_version=shown)
    assert store.is_late(Namespace(metadata=other)) is is_late
    another = ObjectMeta(name="team", uid="2", resource_version=shown)
    assert not store.is_late(Namespace(metadata=another))
