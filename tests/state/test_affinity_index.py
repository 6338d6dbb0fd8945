"""The affinity terms of placed pods, and which of them speak of a pod."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.state.affinity_index import KINDS, REQUIRED, REQUIRED_ANTI, AffinityIndex
from podium.state.pod_info import PodInfo
from tests.builders import pairs, pod
from tests.clusters import affinities

REQUIRED_FIELD = "requiredDuringSchedulingIgnoredDuringExecution"


def term(selector, key="zone", **rest):
    return {"topologyKey": key, "labelSelector": selector, **rest}


def web(labels="app=web"):
    return {"matchLabels": pairs(labels)}


def info(name, *terms, anti=False, namespace="default"):
    side = "podAntiAffinity" if anti else "podAffinity"
    affinity = {side: {REQUIRED_FIELD: list(terms)}}
    return PodInfo(pod(name, affinity=affinity, namespace=namespace))


def matching(index, labels, kind=REQUIRED, namespace="default", namespace_labels=""):
    found = index.matching(kind, namespace, pairs(namespace_labels), pairs(labels))
    return sorted((one.term.topology_key, tuple(sorted(one.rows.items().items()))) for one in found)


def test_equal_terms_stand_once_with_their_rows():
    index = AffinityIndex()
    for name, row in (("x", 0), ("y", 2), ("z", 2)):
        index.add(info(name, term(web())), row)

    assert len(index.standing(REQUIRED)) == 1
    assert matching(index, "app=web") == [("zone", ((0, 1), (2, 2)))]


def test_kinds_are_kept_apart():
    index = AffinityIndex()
    index.add(info("x", term(web()), anti=True), 0)

    assert matching(index, "app=web") == []
    assert matching(index, "app=web", REQUIRED_ANTI) == [("zone", ((0, 1),))]
    assert index.any_of([REQUIRED, REQUIRED_ANTI])
    assert not index.any_of([REQUIRED])


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        pytest.param(web(), "app=web x=1", True, id="pair"),
        pytest.param(web(), "app=db", False, id="other-value"),
        pytest.param(web(), "", False, id="no-label"),
        pytest.param(web("app=web tier=front"), "app=web", False, id="one-of-two"),
        pytest.param({}, "", True, id="everything"),
        pytest.param(None, "app=web", False, id="nothing"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, "app=any", True,
                     id="any-value"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, "", True,
                     id="no-value"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "In",
                                            "values": ["web", "db"]}]}, "app=db", True,
                     id="one-of-some-values"),
    ],
)  # fmt: skip
def test_terms_are_found_by_labels(selector, labels, expected):
    index = AffinityIndex()
    index.add(info("x", term(selector)), 0)

    assert bool(matching(index, labels)) == expected


def test_a_term_is_found_once():
    index = AffinityIndex()
    values = {"key": "app", "operator": "In", "values": ["web", "db"]}
    both = {"matchLabels": {"tier": "front"}, "matchExpressions": [values]}
    index.add(info("x", term(both)), 0)

    assert len(matching(index, "app=web tier=front")) == 1


@pytest.mark.parametrize(
    ("rest", "namespace", "namespace_labels", "expected"),
    [
        pytest.param({}, "default", "", True, id="its-own"),
        pytest.param({}, "other", "", False, id="not-its-own"),
        pytest.param({"namespaces": ["other"]}, "other", "", True, id="named"),
        pytest.param({"namespaces": ["other"]}, "default", "", False, id="not-named"),
        pytest.param({"namespaceSelector": web("team=a")}, "other", "team=a", True, id="selected"),
        pytest.param({"namespaceSelector": web("team=a")}, "default", "", False,
                     id="its-own-if-selected-only"),
        pytest.param({"namespaceSelector": {}}, "any", "", True, id="all"),
    ],
)  # fmt: skip
def test_terms_are_found_by_namespace(rest, namespace, namespace_labels, expected):
    index = AffinityIndex()
    index.add(info("x", term(web(), **rest)), 0)

    found = matching(index, "app=web", namespace=namespace, namespace_labels=namespace_labels)

    assert bool(found) == expected


def test_a_term_goes_with_its_last_pod():
    index = AffinityIndex()
    first, second = info("x", term(web())), info("y", term(web()))
    index.add(first, 0)
    index.add(second, 1)
    index.remove(first, 0)
    assert matching(index, "app=web") == [("zone", ((1, 1),))]

    index.remove(second, 1)
    assert list(index.standing(REQUIRED)) == []
    assert list(index.keys(REQUIRED)) == []
    assert not index.any_of(KINDS)
    assert vars(index) == vars(AffinityIndex())  # nothing is left behind


def test_the_keys_that_decide():
    index = AffinityIndex()
    index.add(info("x", term(web("app=web tier=front"))), 0)
    index.add(info("y", term(web("app=db"))), 0)

    assert set(index.keys(REQUIRED)) == {"app", "tier"}
    assert set(index.keys(REQUIRED_ANTI)) == set()


@given(st.lists(st.tuples(affinities(), st.integers(0, 3)), max_size=8), st.data())
@settings(max_examples=100, deadline=None)
def test_matching_is_asking_every_term(placed, data):
    index = AffinityIndex()
    infos = [(PodInfo(pod(f"p{n}", affinity=a)), row) for n, (a, row) in enumerate(placed)]
    for found, row in infos:
        index.add(found, row)
    for found, row in infos[: len(infos) // 2]:
        index.remove(found, row)
    namespace = data.draw(st.sampled_from(("default", "other")))
    team = data.draw(st.sampled_from(({}, {"team": "blue"})))
    labels = data.draw(st.sampled_from(({}, {"app": "web"}, {"app": "db", "x": "1"})))

    for kind in KINDS:
        found = {one.term for one in index.matching(kind, namespace, team, labels)}
        terms = {one.term for one in index.standing(kind)}
        assert found == {one for one in terms if one.matches(namespace, team, labels)}
