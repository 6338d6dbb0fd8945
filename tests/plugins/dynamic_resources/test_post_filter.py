"""Which claims PostFilter gives back so that the pod may find a node next time."""

import msgspec
import pytest

from podium import framework as fwk
from podium.errors import Conflict
from podium.release import V1_36, V1_37
from podium.testing.builders import pod
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import ON_A, Trial, allocated, claiming, device, two_nodes
from tests.support.releases import kind_of

DEALLOCATED = fwk.Status.unschedulable("deallocation of ResourceClaim completed")


def reserved_for(*names):
    claim = allocated(selector=ON_A)
    consumers = resource_claim("x", reserved_for=" ".join(names)).status.reserved_for
    return msgspec.structs.replace(
        claim, status=msgspec.structs.replace(claim.status, reserved_for=consumers)
    )


@pytest.mark.parametrize(
    ("users", "status", "is_freed"),
    [
        pytest.param((), DEALLOCATED, True, id="unused"),
        pytest.param(("web",), DEALLOCATED, True, id="used-by-this-pod"),
        pytest.param(("other",), fwk.Status.unschedulable(), False, id="used-by-another"),
        pytest.param(("web", "other"), fwk.Status.unschedulable(), False, id="shared"),
    ],
)
def test_deallocation(users, status, is_freed):
    trial = Trial(*two_nodes(), reserved_for(*users))
    asking = claiming("gpu")
    assert trial.feasible(asking) == "a"

    assert trial.post_filter(asking) == status

    trial.run_spawned()
    gone = {"reservedFor": None, "allocation": None, "devices": None}
    expected = [("claim status", "default/gpu", gone)] if is_freed else []
    assert trial.handle.client.writes == expected
    assert trial.taken == ([] if is_freed else ["a/gpu-0"])


def test_deallocation_that_fails():
    """PostFilter has reported success already; the pod is tried again when the claim changes."""
    trial = Trial(*two_nodes(), allocated(selector=ON_A))
    trial.verdicts(claiming("gpu"))

    async def conflict(claim, status):
        raise Conflict("the object has been modified", 409)

    trial.handle.client.patch_claim_status = conflict
    assert trial.post_filter(claiming("gpu")) == DEALLOCATED

    trial.run_spawned()
    assert trial.taken == ["a/gpu-0"]


@pytest.mark.parametrize(
    ("release", "without_claims", "without_help"),
    [
        (V1_36, ["no new claims to deallocate"], ["still not schedulable"]),
        (V1_37, [], []),
    ],
    ids=str,
)
def test_messages_of_the_releases(release, without_claims, without_help):
    kind = kind_of("DynamicResources", release)
    trial = Trial(*two_nodes(), resource_claim("gpu", count=3), kind=kind)

    trial.pre_filter(pod("web"))
    assert trial.post_filter(pod("web")) == fwk.Status.unschedulable(*without_claims)
    trial.verdicts(claiming("gpu"))
    assert trial.post_filter(claiming("gpu")) == fwk.Status.unschedulable(*without_help)


def test_without_state_it_is_an_error_but_no_fault():
    """A PreFilter before this one rejected the pod: that is upstream's text for it."""
    assert Trial(*two_nodes()).post_filter(pod("web")) == fwk.Status.error("not found")


def test_only_one_claim_at_a_time():
    trial = Trial(
        *two_nodes(),
        allocated("first", selector=ON_A),
        resource_claim("second", allocated=device("b/gpu-0")),
    )
    trial.verdicts(claiming("first", "second"))

    assert trial.post_filter(claiming("first", "second")) == DEALLOCATED
    assert trial.run_spawned() == ["deallocation of claim default/first"]
