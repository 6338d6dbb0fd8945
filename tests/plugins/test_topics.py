"""Topics narrow down whom a hint is asked about: they never leave out a pod that it would wake."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import InvalidSelector
from podium.framework.event_rules import event_rules
from podium.release import RELEASES, V1_36, V1_37
from podium.testing.builders import pod
from podium.testing.builders_devices import resource_claim
from podium.testing.handle import FakeHandle
from tests.support.dynamic_resources import claiming, device, templated
from tests.support.releases import plugin_of
from tests.support.search import examples
from tests.support.storage import uses

LABELS_AS_TOPICS = ("InterPodAffinity", "PodTopologySpread")
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


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("name", LABELS_AS_TOPICS)
@examples(2000)
@given(waiting=pods("waiting"), change=CHANGES, own=pods("waiting"))
def test_no_pod_that_a_change_of_pods_wakes_is_left_out(release, name, waiting, change, own):
    for registration in registrations(name, release):
        assert not is_left_out(registration, waiting, change)
        if registration.event.resource == "Pod":  # in 1.36 it may be the waiting pod itself
            assert not is_left_out(registration, waiting, (own, waiting))


@st.composite
def claims(draw, name):
    held = draw(st.sampled_from(["", "", "a/gpu-0"]))
    users = draw(st.sampled_from(["", "web"])) if held else ""
    return resource_claim(name, allocated=held and device(held), reserved_for=users)


CLAIM_NAMES = ("gpu", "nic", "other")
WAITING_FOR_CLAIMS = st.one_of(
    st.lists(st.sampled_from(CLAIM_NAMES), min_size=1, max_size=2).map(lambda n: claiming(*n)),
    st.sampled_from([None, *CLAIM_NAMES]).map(templated),
)


@pytest.mark.parametrize("release", RELEASES, ids=str)
@examples(1000)
@given(waiting=WAITING_FOR_CLAIMS, changed=st.sampled_from(CLAIM_NAMES), data=st.data())
def test_no_pod_that_a_change_of_a_claim_wakes_is_left_out(release, waiting, changed, data):
    versions = st.none() | claims(changed)
    old, new = data.draw(versions), data.draw(versions)
    others = [data.draw(claims(name)) for name in CLAIM_NAMES if name != changed]
    known = others if new is None else [*others, new]
    plugin = plugin_of("DynamicResources", release, FakeHandle(*known))

    for registration in as_in(release, plugin):
        if registration.event.resource.endswith("ResourceClaim") and (old or new):
            assert not is_left_out(registration, waiting, (old, new))


def is_left_out(registration, waiting, change):
    """Return whether the hint would wake a pod that it is not asked about."""
    if registration.topic is None:
        return False
    of_change, of_pod = registration.topic
    about = of_change(*change)
    is_asked = about is None or bool(set(about) & set(of_pod(waiting)))
    return not is_asked and wakes(registration.hint, waiting, *change)


@cache
def registrations(name, release):
    return as_in(release, plugin_of(name, release))


def as_in(release, plugin):
    """Return what a plugin of ours registers in a release."""
    return event_rules(release).own_plugins(plugin.events_to_register())


def wakes(hint, waiting, old, new):
    try:
        return hint(waiting, old, new)
    except InvalidSelector:
        return True


@pytest.mark.parametrize("name", LABELS_AS_TOPICS)
def test_in_1_36_changes_of_pods_have_no_topic(name):
    """One registration is for all pods, and must not hide changes of the waiting pod itself."""
    (topic,) = [r.topic for r in registrations(name, V1_36) if r.event.resource == "Pod"]

    assert topic is None


@pytest.mark.parametrize("name", LABELS_AS_TOPICS)
def test_a_pod_without_the_label_concerns_nobody_else(name):
    (topic,) = [r.topic for r in registrations(name, V1_37) if r.topic is not None]
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    waiting = pod(
        affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        topology_spread_constraints=[term | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}],
    )

    of_change, of_pod = topic
    concerning = set(of_pod(waiting))
    web, db = (pod("other", node="a", labels=f"app={app}") for app in ("web", "db"))
    for change in ((None, web), (web, None), (web, db), (db, web)):
        assert concerning & set(of_change(*change))
    for change in ((None, db), (db, None), (db, pod("other", node="a", labels="tier=db"))):
        assert not concerning & set(of_change(*change))


VOLUMES = st.lists(
    st.one_of(
        st.sampled_from(["data", "logs"]).map(uses),
        st.builds(
            lambda name, read_only: uses(gcePersistentDisk={"pdName": name, "readOnly": read_only}),
            st.sampled_from(["data", "disk"]),
            st.booleans(),
        ),
        st.sampled_from(["data", "vol-1"]).map(
            lambda name: uses(awsElasticBlockStore={"volumeID": name})
        ),
        st.just(uses(iscsi={"targetPortal": "p", "iqn": "iqn.a", "lun": 0})),
        st.sampled_from(["m1", "m2"]).map(
            lambda monitor: uses(rbd={"monitors": [monitor], "pool": "rbd", "image": "i"})
        ),
    ),
    max_size=2,
).map(lambda volumes: [volume for some in volumes for volume in some])


@st.composite
def pods_with_volumes(draw, name, node=""):
    namespace = draw(st.sampled_from(["default", "default", "other"]))
    return pod(name, node=node, namespace=namespace, volumes=draw(VOLUMES))


@pytest.mark.parametrize("release", RELEASES, ids=str)
@examples(1000)
@given(waiting=pods_with_volumes("waiting"), gone=pods_with_volumes("gone", "a"))
def test_no_pod_that_a_rival_for_a_volume_wakes_is_left_out(release, waiting, gone):
    for registration in registrations("VolumeRestrictions", release):
        if registration.topic is not None:
            assert not is_left_out(registration, waiting, (gone, None))


def test_a_pod_with_other_volumes_concerns_nobody_else():
    (topic,) = [r.topic for r in registrations("VolumeRestrictions", V1_37) if r.topic is not None]
    gone = topic.of_change(pod("gone", node="a", volumes=uses("data")), None)

    assert gone & topic.of_pod(pod(volumes=uses("data")))
    assert not gone & topic.of_pod(pod(volumes=uses("logs")))
    assert not gone & topic.of_pod(pod(namespace="other", volumes=uses("data")))
