"""Looking terms up by labels finds what asking every term would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.state.affinity_index import KINDS, REQUIRED, AffinityIndex
from podium.state.pod_info import PodInfo
from podium.testing.builders import pairs, pod
from podium.testing.generated_terms import affinities
from tests.support.search import examples

WEB = {"matchLabels": {"app": "web"}}
BLUE = {"matchLabels": {"team": "blue"}}


@pytest.mark.parametrize(
    ("where", "namespace", "namespace_labels", "expected"),
    [
        pytest.param({}, "default", "", True, id="its-own"),
        pytest.param({}, "other", "", False, id="not-its-own"),
        pytest.param({"namespaces": ["other"]}, "other", "", True, id="named"),
        pytest.param({"namespaces": ["other"]}, "default", "", False, id="not-named"),
        pytest.param({"namespaceSelector": BLUE}, "other", "team=blue", True, id="selected"),
        pytest.param({"namespaceSelector": BLUE}, "default", "", False,
                     id="its-own-if-selected-only"),
        pytest.param({"namespaceSelector": {}}, "any", "", True, id="all"),
    ],
)  # fmt: skip
def test_terms_are_found_by_namespace(where, namespace, namespace_labels, expected):
    term = {"topologyKey": "zone", "labelSelector": WEB, **where}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    index = AffinityIndex()
    index.add(PodInfo(pod(affinity={"podAffinity": required})), 0)

    found = index.matching(REQUIRED, namespace, pairs(namespace_labels), {"app": "web"})

    assert len(list(found)) == expected


@given(st.lists(st.tuples(affinities(), st.integers(0, 3)), max_size=8), st.data())
@examples(100)
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
        found = [one.term for one in index.matching(kind, namespace, team, labels)]
        terms = {one.term for one in index.standing(kind)}
        assert len(found) == len(set(found))
        assert set(found) == {one for one in terms if one.matches(namespace, team, labels)}
