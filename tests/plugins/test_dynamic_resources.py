import asyncio

import numpy as np
import pytest

from podium import framework as fwk
from podium.errors import StateNotFound
from podium.framework.registry import Registry
from podium.plugins.dynamic_resources import Claims, DynamicResources
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support.releases import plugin_of

PLUGIN = DynamicResources(DynamicResources.Args(), None)
PLAIN = pod()
CLAIMING = pod(resource_claims=({"name": "gpu", "resourceClaimName": "gpu-1"},))
NODES = fwk.Rows.of(node("a"), node("b"))
NO_STATUSES = fwk.NodeStatuses.none(NODES, fwk.Status.unschedulable("full"))


def test_pod_without_claims_is_left_alone():
    state = fwk.CycleState()

    assert PLUGIN.pre_enqueue(PLAIN).ok
    assert PLUGIN.pre_filter(state, PLAIN, NODES).is_skip
    assert state.find(Claims) is not None
    assert list(PLUGIN.filter_all(state, PLAIN, NODES)) == [fwk.SUCCESS, fwk.SUCCESS]
    assert PLUGIN.reserve(state, PLAIN, "a") is None
    assert PLUGIN.unreserve(state, PLAIN, "a") is None
    assert PLUGIN.pre_bind_pre_flight(state, PLAIN, "a").is_skip
    assert asyncio.run(PLUGIN.pre_bind(state, PLAIN, "a")) is None


def test_pod_with_claims_is_told_that_they_are_not_supported():
    state = fwk.CycleState()

    status = PLUGIN.pre_filter(state, CLAIMING, NODES)

    assert PLUGIN.pre_enqueue(CLAIMING).ok
    assert status.code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.message == "podium does not support resource claims yet"
    # The state is there all the same: PostFilter then goes on to preemption.
    assert PLUGIN.post_filter(state, CLAIMING, NO_STATUSES)[1].is_rejection


@pytest.mark.parametrize(
    ("release", "reasons"), [(V1_36, ["no new claims to deallocate"]), (V1_37, [])], ids=str
)
def test_post_filter_has_nothing_to_give_back(release, reasons):
    plugin, state = plugin_of("DynamicResources", release), fwk.CycleState()
    plugin.pre_filter(state, PLAIN, NODES)

    nominate, status = plugin.post_filter(state, PLAIN, NO_STATUSES)

    assert nominate is None
    assert status == fwk.Status.unschedulable(*reasons)


def test_post_filter_without_state_is_an_error_but_no_fault():
    """A PreFilter before this one rejected the pod: that is upstream's text for it."""
    assert PLUGIN.post_filter(fwk.CycleState(), PLAIN, NO_STATUSES) == (
        None,
        fwk.Status.error("not found"),
    )


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda state: PLUGIN.filter(state, PLAIN, NODES.at(0)), id="filter"),
        pytest.param(lambda state: PLUGIN.score(state, PLAIN, NODES.at(0)), id="score"),
        pytest.param(lambda state: PLUGIN.score_all(state, PLAIN, NODES), id="score-all"),
    ],
)
def test_without_pre_filter_it_fails(call):
    with pytest.raises(StateNotFound, match=r"^not found$"):
        call(fwk.CycleState())


def test_score_tells_no_nodes_apart():
    state = fwk.CycleState()
    PLUGIN.pre_filter(state, PLAIN, NODES)

    scores = PLUGIN.score_all(state, PLAIN, NODES)

    assert scores.dtype == np.int64
    assert scores.tolist() == [PLUGIN.score(state, PLAIN, each) for each in NODES] == [0, 0]
    assert PLUGIN.normalize_score(state, PLAIN, scores, NODES).tolist() == [0, 0]


def test_signature():
    assert PLUGIN.sign(PLAIN) == PLUGIN.sign(pod("other", cpu="1"))
    assert PLUGIN.depends_on(PLAIN) == fwk.Dependencies()
    with pytest.raises(fwk.NotSignable):
        PLUGIN.sign(CLAIMING)


def test_no_event_of_a_claim_helps():
    hints = {
        registration.event.resource: registration.hint
        for registration in PLUGIN.events_to_register()
        if registration.hint is not None
    }

    assert set(hints) == {"resource.k8s.io/ResourceClaim", "TargetPod"}
    assert not any(hint(CLAIMING, CLAIMING, CLAIMING) for hint in hints.values())


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, [], id="defaults"),
        pytest.param({"filter_timeout": 0.0, "binding_timeout": 1.0}, [], id="smallest"),
        pytest.param(
            {"filter_timeout": -1.0},
            [("filterTimeout", "Invalid value: -1s: must be zero or positive")],
            id="negative-filter-timeout",
        ),
        pytest.param(
            {"binding_timeout": 0.5},
            [("bindingTimeout", "Invalid value: 500ms: must be at least 1 second")],
            id="short-binding-timeout",
        ),
    ],
)
def test_args(args, expected):
    found = DynamicResources.Args(**args).validate()

    assert [(problem.path, problem.message) for problem in found] == expected


def test_registers_at_its_points():
    points = Registry([DynamicResources]).points("DynamicResources")

    assert {point.value for point in points} == {
        "preEnqueue", "preFilter", "filter", "postFilter", "score", "reserve", "preBind"
    }  # fmt: skip
