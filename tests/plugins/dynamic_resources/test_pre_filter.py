"""What makes claims unusable on every node."""

import pytest

from podium import framework as fwk
from podium.api.objects import AllocationResult
from podium.testing.builders import pod
from podium.testing.builders_devices import resource_claim
from podium.testing.handle import FakeHandle
from tests.support.dynamic_resources import Trial, claiming, device, two_nodes, with_status

EXACTLY = {"allocationMode": "ExactCount", "count": 1}
FIRST = [{"name": "one", "deviceClassName": "gpu", **EXACTLY}, {"name": "two", **EXACTLY}]


def requests(**request):
    return resource_claim("gpu", requests=[{"name": "r", **request}])


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        pytest.param(resource_claim("gpu"), fwk.SUCCESS, id="unallocated"),
        pytest.param(resource_claim("gpu", allocated=device("a/gpu-0")), fwk.SUCCESS, id="has-one"),
        pytest.param(
            resource_claim("gpu", device_class="tpu"),
            fwk.Status.unresolvable("request request-0: device class tpu does not exist"),
            id="no-class",
        ),
        pytest.param(
            requests(exactly=EXACTLY),
            fwk.Status.error("request r: unsupported request type"),
            id="empty-class",
        ),
        pytest.param(
            requests(),
            fwk.Status.unresolvable("resource claim default/gpu, request r: unknown request type"),
            id="request-of-a-later-release",
        ),
        pytest.param(
            requests(firstAvailable=FIRST),
            fwk.Status.error("request r/two: unsupported request type"),
            id="alternative-without-class",
        ),
    ],
)
def test_claims_that_no_node_can_serve(claim, status):
    assert Trial(*two_nodes(), claim).pre_filter(claiming("gpu")) == status


def test_claim_in_flight():
    """Only one pod allocates a claim; the others wait until it is written."""
    trial = Trial(*two_nodes(), resource_claim("gpu"))
    trial.devices.reserve(trial.claim("gpu"), AllocationResult())

    status = trial.pre_filter(claiming("gpu"))

    text = "resource claim default/gpu is in the process of being allocated"
    assert status == fwk.Status.unresolvable(text)


def test_pod_without_claims_is_skipped():
    trial = Trial(*two_nodes())

    assert trial.pre_filter(pod("web")).is_skip
    assert trial.claims.claims == []
    assert trial.plugin.reserve(trial.state, pod("web"), "a") is None
    assert trial.plugin.unreserve(trial.state, pod("web"), "a") is None
    assert trial.plugin.pre_bind_pre_flight(trial.state, pod("web"), "a").is_skip


def test_signature():
    trial = Trial(*two_nodes())

    assert trial.plugin.sign(pod("web")) == trial.plugin.sign(pod("other", cpu="1"))
    assert trial.plugin.depends_on(pod("web")) == fwk.Dependencies(scores_alike=True)
    with pytest.raises(fwk.NotSignable):
        trial.plugin.sign(claiming("gpu"))


def test_bad_node_selector_of_an_allocation():
    bad = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Near"}]}]}
    status = {"allocation": {"nodeSelector": bad}}
    trial = Trial(*two_nodes(), with_status(resource_claim("gpu"), status))

    answer = trial.pre_filter(claiming("gpu"))

    assert answer.code is fwk.Code.ERROR
    assert "Near" in answer.message


def test_without_pre_filter_the_other_points_fail():
    plugin, handle = Trial().plugin, FakeHandle(*two_nodes())

    for call in (
        lambda: plugin.filter_all(fwk.CycleState(), claiming("gpu"), handle.rows),
        lambda: plugin.score_all(fwk.CycleState(), claiming("gpu"), handle.rows),
        lambda: plugin.reserve(fwk.CycleState(), claiming("gpu"), "a"),
    ):
        with pytest.raises(Exception, match=r"^not found$"):
            call()
