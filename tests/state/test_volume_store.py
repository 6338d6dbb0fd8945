"""Volumes by class while unclaimed, and by their claim afterwards."""

from hypothesis import given
from hypothesis import strategies as st

from podium.state.objects import VolumeStore
from tests.support.storage import claim, volume


def names(volumes):
    return [found.name for found in volumes]


def test_a_volume_is_listed_until_it_is_claimed():
    store = VolumeStore()
    for made in (volume("a"), volume("b"), volume("c", storage_class="other")):
        store.set(made)
    assert names(store.unclaimed("standard")) == ["a", "b"]

    store.set(volume("a", claim=claim()))
    assert names(store.unclaimed("standard")) == ["b"]
    assert names(store.claimed_by("default/data")) == ["a"]

    store.remove("a")
    store.set(volume("b", storage_class="other"))
    assert names(store.unclaimed("other")) == ["c", "b"]
    assert (names(store.unclaimed("standard")), names(store.claimed_by("default/data"))) == ([], [])


def test_the_old_annotation_names_the_class():
    store = VolumeStore()
    store.set(volume(annotations={"volume.beta.kubernetes.io/storage-class": "old"}))
    assert (names(store.unclaimed("old")), names(store.unclaimed("standard"))) == (["pv"], [])


CHANGES = st.tuples(
    st.sampled_from("abc"), st.sampled_from(("x", "y")), st.sampled_from((None, "c1", "c2", "-"))
)


@given(st.lists(CHANGES, max_size=12))
def test_the_indexes_follow_any_changes(changes):
    store = VolumeStore()
    for name, cls, taken in changes:
        if taken == "-":
            store.remove(name)
        else:
            store.set(volume(name, storage_class=cls, **({"claim": taken} if taken else {})))
        store.check()
