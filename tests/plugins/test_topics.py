"""Topics narrow down whom a hint is asked about: they never leave out a pod that it would wake."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import InvalidSelector
from podium.release import V1_36, V1_37
from podium.testing.builders import pod
from tests.support.releases import plugin_of
from tests.support.search import examples

KEYS, VALUES = st.sampled_from(["app", "tier"]), st.sampled_from(["web", "db"])
LABELS = st.just({"app": "web"}) | st.dictionaries(KEYS, VALUES)
EXPRESSIONS = st.one_of(
    st.builds(lambda key: {"key": key, "operator": "Exists"}, KEYS),
    st.builds(
        lambda key, values: {"key": key, "operator": "In", "values": values},
        KEYS,
        st.lists(VALUES, min_size=1, max_size=2, unique=True),
    ),
    st.builds(lambda key: {"key": key, "operator": "NotIn", "values": ["db"]}, KEYS),
    st.just({"key": "app", "operator": "In", "values": []}),  # invalid
)
SELECTORS = st.one_of(
    st.just({"matchLabels": {"app": "web"}}),  # often the same, so that many match
    st.none(),
    st.builds(
        lambda labels, expressions: {"matchLabels": labels, "matchExpressions": expressions},
        LABELS,
        st.lists(EXPRESSIONS, max_size=1),
    ),
)
TERMS = st.lists(
    st.builds(
        lambda selector, spaces: {
            "topologyKey": "zone",
            "labelSelector": selector,
            "namespaces": spaces,
        },
        SELECTORS,
        st.sampled_from([[], [], ["other"]]),
    ),
    max_size=2,
)
CONSTRAINTS = st.lists(
    st.builds(
        lambda selector, keys: {
            "topologyKey": "zone",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
            "matchLabelKeys": keys,
        },
        SELECTORS,
        st.sampled_from([[], ["app"]]),
    ),
    max_size=2,
)


@st.composite
def pods(draw, name, node="", *, is_plain=False):
    near, apart = (draw(TERMS), draw(TERMS)) if not is_plain else ([], [])
    return pod(
        name,
        node=node,
        namespace=draw(st.sampled_from(["default", "default", "other"])),
        labels=" ".join(f"{key}={value}" for key, value in draw(LABELS).items()),
        affinity={
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": near},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart},
        },
        topology_spread_constraints=draw(CONSTRAINTS),
    )


OTHERS = st.one_of(pods("other", "a", is_plain=True), pods("other", "a"))
CHANGES = st.one_of(
    st.tuples(st.none(), OTHERS), st.tuples(OTHERS, st.none()), st.tuples(OTHERS, OTHERS)
)


@pytest.mark.parametrize("release", [V1_36, V1_37], ids=str)
@pytest.mark.parametrize("name", ["InterPodAffinity", "PodTopologySpread"])
@examples(2000)
@given(waiting=pods("waiting"), change=CHANGES)
def test_no_pod_that_a_hint_wakes_is_left_out(release, name, waiting, change):
    for registration in registrations(name, release):
        if registration.topic is None:
            continue
        about = registration.topic.of_change(*change)
        concerning = registration.topic.of_pod(waiting)
        if about is not None and not set(about) & set(concerning):
            assert not wakes(registration.hint, waiting, *change)


@cache
def registrations(name, release):
    return plugin_of(name, release).events_to_register()


def wakes(hint, waiting, old, new):
    try:
        return hint(waiting, old, new)
    except InvalidSelector:
        return True


@pytest.mark.parametrize("name", ["InterPodAffinity", "PodTopologySpread"])
def test_a_pod_without_the_label_concerns_nobody_else(name):
    (topic,) = [r.topic for r in registrations(name, V1_37) if r.topic is not None]
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    waiting = pod(
        affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        topology_spread_constraints=[term | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}],
    )

    concerning = set(topic.of_pod(waiting))
    assert concerning & set(topic.of_change(None, pod("web", node="a", labels="app=web")))
    assert not concerning & set(topic.of_change(None, pod("db", node="a", labels="app=db")))
    assert not concerning & set(topic.of_change(pod("db", node="a", labels="app=db"), None))
