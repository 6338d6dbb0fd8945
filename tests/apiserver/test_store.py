"""The store by itself: names, versions, deletion, watches."""

import pytest

from podium.api.times import time_text
from podium.apiserver.statuses import Refusal
from podium.apiserver.store import Deletion, ObjectStore, Preconditions
from podium.clock import FakeClock


@pytest.fixture
def store():
    return ObjectStore(FakeClock(), history=10, seed=1)


def thing(name="a", namespace="n", **meta):
    return {"metadata": {"name": name, "namespace": namespace, **meta}}


def refusal(call, *args, **kwargs):
    with pytest.raises(Refusal) as caught:
        call(*args, **kwargs)
    return caught.value


def test_create_gives_identity_and_version(store):
    made = store.create("things", thing()).decode()["metadata"]

    assert made["resourceVersion"] == "2"
    assert made["uid"]
    assert made["creationTimestamp"] == time_text(store.clock.now())


def test_generated_names_differ(store):
    names = {
        store.create("things", {"metadata": {"generateName": "web-"}}).key[1] for _ in range(20)
    }

    assert len(names) == 20
    assert all(name.startswith("web-") and len(name) == 9 for name in names)


def test_second_create_is_refused(store):
    store.create("things", thing())

    error = refusal(store.create, "things", thing())

    assert (error.code, error.reason) == (409, "AlreadyExists")
    assert error.message == 'things "a" already exists'


def test_update_with_an_old_version_is_refused(store):
    first = store.create("things", thing()).decode()
    store.update("things", first | {"spec": 1})

    error = refusal(store.update, "things", first | {"spec": 2})

    assert (error.code, error.reason) == (409, "Conflict")


def test_update_that_changes_nothing_makes_no_version(store):
    made = store.create("things", thing())

    assert store.update("things", made.decode()) is made


def test_system_fields_survive_an_update(store):
    made = store.create("things", thing()).decode()["metadata"]

    kept = store.update("things", {**thing(), "spec": 1}).decode()["metadata"]

    assert (kept["uid"], kept["creationTimestamp"]) == (made["uid"], made["creationTimestamp"])


@pytest.mark.parametrize(
    ("preconditions", "code"),
    [
        pytest.param(Preconditions(uid="other"), 409, id="other-uid"),
        pytest.param(Preconditions(version="1"), 409, id="other-version"),
    ],
)
def test_preconditions(store, preconditions, code):
    store.create("things", thing())

    error = refusal(store.delete, "things", ("n", "a"), Deletion(preconditions=preconditions))

    assert error.code == code
    assert "Precondition failed" in error.message


def test_finalizers_hold_an_object_until_they_go(store):
    store.create("things", thing(finalizers=["x/y"]))
    held = store.delete("things", ("n", "a")).decode()
    assert held["metadata"]["deletionTimestamp"]

    held["metadata"]["finalizers"] = []
    store.update("things", held)

    assert store.find("things", ("n", "a")) is None


def test_grace_can_only_get_shorter(store):
    store.create("things", thing())
    store.delete("things", ("n", "a"), Deletion(grace_seconds=30))
    again = store.delete("things", ("n", "a"), Deletion(grace_seconds=60)).decode()
    assert again["metadata"]["deletionGracePeriodSeconds"] == 30

    store.delete("things", ("n", "a"), Deletion(grace_seconds=0))

    assert store.find("things", ("n", "a")) is None


def test_dry_runs_change_nothing(store):
    store.create("things", thing("kept"))
    before = store.version

    store.create("things", thing("new"), dry_run=True)
    store.update("things", thing("kept") | {"spec": 1}, dry_run=True)
    store.delete("things", ("n", "kept"), Deletion(dry_run=True))

    assert store.version == before
    assert [item.key[1] for item in store.list("things").items] == ["kept"]


def test_a_list_can_be_read_as_it_was(store):
    store.create("things", thing("a"))
    then = store.version
    store.create("things", thing("b"))
    store.delete("things", ("n", "a"))

    assert [item.key[1] for item in store.list("things", at=then).items] == ["a"]
    assert refusal(store.list, "things", at=store.version + 1).code == 504


def test_a_watch_reads_on_from_its_version(store):
    store.create("things", thing("a"))
    calls = []
    watch = store.watch("things", store.version, lambda: calls.append(1))
    store.create("things", thing("b"))
    store.delete("things", ("n", "a"))
    store.create("others", thing("c"))

    assert [(event.type, event.key[1]) for event in watch.poll()] == [
        ("ADDED", "b"),
        ("DELETED", "a"),
    ]
    assert len(calls) == 2
    assert watch.poll() == []


def test_a_watch_left_behind_is_told_so(store):
    watch = store.watch("things", store.version, lambda: None)
    for number in range(25):
        store.create("things", thing(f"t{number}"))

    assert refusal(watch.poll).code == 410
    assert refusal(store.watch, "things", 3, lambda: None).code == 410
    store.check_invariants()


def test_large_objects_shorten_the_history():
    store = ObjectStore(FakeClock(), history=1000)
    for number in range(200):
        store.create("things", {**thing(f"t{number}"), "value": "x" * 1_000_000})

    store.check_invariants()
    assert refusal(store.watch, "things", 100, lambda: None).code == 410
    assert len(store.watch("things", store.version - 10, lambda: None).poll()) == 10


def test_listeners_hear_changes_in_order(store):
    heard = []

    def reply(resource, event):
        if event.key[1] == "a":
            store.create("things", thing("b"))

    store.listen(reply)
    store.listen(lambda resource, event: heard.append(event.key[1]))
    store.create("things", thing("a"))

    assert heard == ["a", "b"]
