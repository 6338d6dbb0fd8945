import pytest

from podium.state.affinity_index import KINDS, PREFERRED, REQUIRED_ANTI, AffinityIndex
from podium.state.pod_info import PodInfo
from podium.testing.builders import pod

IN_WEB = {"matchLabels": {"app": "web"}}
IN_EITHER = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "web"]}]}
NOT_WEB = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}


def apart_from(*selectors, namespaces=()):
    terms = [
        {"topologyKey": "zone", "labelSelector": s, "namespaces": list(namespaces)}
        for s in selectors
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return PodInfo(pod(affinity={"podAntiAffinity": required}))


def found(index, labels, namespace="default"):
    terms = index.matching(REQUIRED_ANTI, namespace, {}, labels)
    return [standing.rows.items() for standing in terms]


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        pytest.param(IN_WEB, {"app": "web"}, True, id="pair"),
        pytest.param(IN_WEB, {"app": "db"}, False, id="other-value"),
        pytest.param(IN_EITHER, {"app": "db"}, True, id="one-of-several"),
        pytest.param(NOT_WEB, {"app": "db"}, True, id="no-pair-to-look-up"),
        pytest.param(NOT_WEB, {"app": "web"}, False, id="excluded"),
        pytest.param({}, {}, True, id="everything"),
        pytest.param(None, {}, False, id="nothing"),
    ],
)
def test_terms_are_found_by_the_labels_they_ask_for(selector, labels, matches):
    index = AffinityIndex()
    index.add(apart_from(selector), 3)

    assert found(index, labels) == ([{3: 1}] if matches else [])
    assert found(index, labels, namespace="other") == []


def test_equal_terms_of_many_pods_are_one_term():
    index = AffinityIndex()
    for row in (1, 1, 2):
        index.add(apart_from(IN_WEB), row)

    assert found(index, {"app": "web"}) == [{1: 2, 2: 1}]
    assert len(index.standing(REQUIRED_ANTI)) == 1


def test_keys_are_those_of_standing_terms():
    index = AffinityIndex()
    both = apart_from(IN_WEB, {"matchLabels": {"tier": "front"}})
    index.add(both, 1)
    index.add(apart_from(NOT_WEB), 1)
    assert set(index.keys(REQUIRED_ANTI)) == {"app", "tier"}
    assert not index.keys(PREFERRED)

    index.remove(both, 1)
    assert set(index.keys(REQUIRED_ANTI)) == {"app"}


def test_nothing_is_left_when_all_pods_are_gone():
    index = AffinityIndex()
    infos = [apart_from(IN_EITHER), apart_from(NOT_WEB), apart_from({}), apart_from(IN_EITHER)]
    for info in infos:
        index.add(info, 1)
    assert index.any_of(KINDS)
    for info in infos:
        index.remove(info, 1)

    assert not index.any_of(KINDS)
    assert vars(index) == vars(AffinityIndex())
