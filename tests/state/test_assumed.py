"""Assumptions: one per object, for one version, and ended by whatever the API shows."""

import pytest

from podium.api.objects import PersistentVolume
from podium.errors import CacheError, NotFound
from podium.state.aspects import NOWHERE, Aspect
from podium.state.cluster import ClusterState
from tests.support.storage import claim, volume


def prepared(*objects):
    cluster = ClusterState()
    for obj in objects:
        cluster.set_object(obj)
    return cluster, cluster.assumed(PersistentVolume)


def test_what_is_assumed_stands_before_what_is_stored():
    cluster, assumed = prepared(volume())
    taken = volume(claim=claim())
    assumed.assume(taken)

    assert assumed.get("pv") is taken
    assert cluster.volumes.get("pv").spec.claim_ref is None
    assert (list(assumed), len(assumed), assumed.holds(taken)) == ([taken], 1, True)
    assert assumed.get("other") is None


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        pytest.param([], NotFound('persistentvolume "pv" not found'), id="missing"),
        pytest.param(
            [volume(resource_version="2")],
            CacheError('"pv" is out of sync (stored: 2, assume: 1)'),
            id="of-another-version",
        ),
    ],
)
def test_only_the_known_version_can_be_built_on(stored, fault):
    cluster, assumed = prepared(*stored)
    before = cluster.journal.end
    with pytest.raises(type(fault)) as raised:
        assumed.assume(volume())
    assert str(raised.value) == str(fault)
    assert (len(assumed), cluster.journal.end) == (0, before)


def test_only_the_very_assumption_is_dropped():
    _, assumed = prepared(volume())
    first, second = volume(claim=claim()), volume(claim=claim("other"))
    assumed.assume(first)
    assumed.assume(second)

    assumed.restore(first)
    assert assumed.get("pv") is second
    assumed.restore(second)
    assumed.restore(second)
    assert assumed.get("pv").spec.claim_ref is None


@pytest.mark.parametrize(
    ("assumed_version", "shown", "holds"),
    [
        pytest.param("1", volume(resource_version="1"), True, id="the-same-version"),
        pytest.param("1", volume(resource_version="2"), False, id="a-newer-one"),
        pytest.param("2", volume(resource_version="1"), True, id="a-late-one-is-not-looked-at"),
        pytest.param("", volume(resource_version=""), False, id="without-versions-any-is-a-change"),
        pytest.param("2", volume(resource_version="1", uid="new"), False, id="another-object"),
    ],
)
def test_the_api_ends_an_assumption(assumed_version, shown, holds):
    cluster, assumed = prepared(volume(resource_version=assumed_version))
    assumed.assume(volume(resource_version=assumed_version, claim=claim()))
    cluster.set_object(shown)
    assert bool(len(assumed)) is holds
    assert (assumed.get("pv").spec.claim_ref is not None) is holds


def test_an_assumption_that_ends_is_told_even_if_the_object_is_as_before():
    cluster, assumed = prepared(volume(resource_version="1"))
    assumed.assume(volume(resource_version="1", claim=claim()))
    mark = cluster.journal.end

    cluster.set_object(volume(resource_version="2"))
    assert cluster.journal.since(mark) == [(NOWHERE, Aspect.STORAGE)]


def test_a_deletion_ends_it():
    cluster, assumed = prepared(volume())
    assumed.assume(volume(claim=claim()))
    cluster.remove_object(PersistentVolume, "pv")
    assert (len(assumed), assumed.get("pv")) == (0, None)


def test_every_change_is_in_the_journal():
    cluster, assumed = prepared(volume())
    taken = volume(claim=claim())
    mark = cluster.journal.end
    assumed.assume(taken)
    assumed.restore(taken)
    assumed.restore(taken)
    assert cluster.journal.since(mark) == [(NOWHERE, Aspect.STORAGE)] * 2
