from podium.api.affinity_terms import NO_TERMS, affinity_terms
from podium.api.selectors import EVERYTHING, NOTHING, from_map
from podium.testing.builders import pod


def near(**term):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", **term}]}
    return {"podAffinity": required}


def compiled(**term):
    return affinity_terms(pod(namespace="mine", affinity=near(**term))).required[0]


def test_namespaces():
    assert compiled().namespaces == {"mine"}
    assert compiled(namespaces=["a"]).namespaces == {"a"}
    assert compiled(namespaceSelector={}).namespaces == frozenset()
    assert compiled().namespace_selector is None
    assert compiled(namespaceSelector={}).namespace_selector == EVERYTHING


def test_selector():
    assert compiled().selector == NOTHING
    assert compiled(labelSelector={}).selector == EVERYTHING
    assert compiled(labelSelector={"matchLabels": {"a": "1"}}).selector == from_map({"a": "1"})


def test_matches():
    term = compiled(
        labelSelector={"matchLabels": {"app": "web"}},
        namespaces=["a"],
        namespaceSelector={"matchLabels": {"team": "x"}},
    )

    assert term.matches("a", {}, {"app": "web"})
    assert term.matches("b", {"team": "x"}, {"app": "web"})
    assert not term.matches("b", {}, {"app": "web"})
    assert not term.matches("a", {}, {"app": "db"})


def test_replicas_share_their_terms():
    one, two = (
        affinity_terms(pod(name, affinity=near(labelSelector={"matchLabels": {"app": "web"}})))
        for name in ("one", "two")
    )

    assert one is two
    assert one is not affinity_terms(pod(namespace="other", affinity=near()))


def test_affinity_without_terms_is_none():
    assert affinity_terms(pod()) is NO_TERMS
    assert affinity_terms(pod(affinity={"podAffinity": {}})) is NO_TERMS


def test_broken_terms_are_named_by_their_group():
    expression = {"key": "app", "operator": "Gt", "values": ["1"]}
    terms = affinity_terms(pod(affinity=near(labelSelector={"matchExpressions": [expression]})))

    assert terms.required == ()
    wrong = '"Gt" is not a valid label selector operator'
    assert terms.problems == (f"requiredAffinityTerms: {wrong}",)
