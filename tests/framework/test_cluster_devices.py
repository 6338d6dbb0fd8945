"""The devices of a cluster: what is counted as taken is what claims have."""

import pytest

from podium.api.objects import ResourceClaim
from podium.devices.extended_resources import EXTENDED_CLAIM_ANNOTATION
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import Trial, allocated, claiming, two_nodes

WITH_DEVICE = allocated("other")


def damage_taken(devices):
    devices.taken.remove(WITH_DEVICE.status.allocation)


def damage_flights(devices):
    devices._in_flight["uid-of-nobody"] = WITH_DEVICE.status.allocation


def damage_classes(devices):
    devices.classes.clear()


def damage_extended_claims(devices):
    devices._extended_claims["uid-of-nobody"] = {WITH_DEVICE.key: None}


@pytest.mark.parametrize(
    "damage", [damage_taken, damage_flights, damage_classes, damage_extended_claims]
)
def test_the_check_of_invariants_finds_damage(damage):
    trial = Trial(*two_nodes(), resource_claim("gpu"), WITH_DEVICE)
    trial.reserve(claiming("gpu"))
    trial.devices.check_invariants()

    damage(trial.devices)

    with pytest.raises(AssertionError):
        trial.devices.check_invariants()


def test_a_claim_that_goes_while_its_allocation_is_in_flight():
    trial = Trial(*two_nodes(), resource_claim("gpu"))
    asking = claiming("gpu")
    trial.reserve(asking)

    trial.cluster.remove_object(ResourceClaim, "default/gpu")
    assert trial.taken == ["a/gpu-0"], "its write may have been carried out"
    trial.devices.check_invariants()

    trial.unreserve(asking)
    assert trial.taken == []
    trial.devices.check_invariants()


def test_a_pod_with_two_claims_for_extended_resources():
    """It should have one; the one that is left is found when the other is deleted."""
    owner = {"kind": "Pod", "name": "web", "uid": "uid-web", "controller": True}
    fields = {"annotations": {EXTENDED_CLAIM_ANNOTATION: "true"}, "owner_references": [owner]}
    trial = Trial(*two_nodes(), *(resource_claim(name, **fields) for name in ("one", "two")))
    web = claiming("gpu")

    for key in ("default/one", "default/two"):
        assert trial.devices.extended_claim_of(web).key == key
        trial.cluster.remove_object(ResourceClaim, key)
        trial.devices.check_invariants()
    assert trial.devices.extended_claim_of(web) is None
