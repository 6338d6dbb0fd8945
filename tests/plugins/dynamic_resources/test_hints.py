"""Which changes wake a pod that waits for its claims. The recorded hints cover the rest."""

import msgspec
import pytest

from podium.plugins.dynamic_resources.hints import CLAIM_TOPIC
from podium.testing.builders import pod
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import (
    Trial,
    allocated,
    claiming,
    device,
    templated,
    two_nodes,
    with_status,
)

OWN = resource_claim("gpu")
HAS = resource_claim("gpu", allocated=device("a/gpu-0"))
OTHER = resource_claim("other")
OTHER_HAS = resource_claim("other", allocated=device("a/gpu-0"))


def reported(**fields):
    """The pod's claim with what a driver reports about its device."""
    about = {"driver": "gpu.example.com", "pool": "a", "device": "gpu-0", **fields}
    return with_status(HAS, {**msgspec.to_builtins(HAS.status), "devices": [about]})


def sharing(memory):
    """The pod's claim with a share of a device."""
    return allocated(result={"shareID": "s", "consumedCapacity": {"memory": memory}})


REPORTED = reported(data={"link": "up"})
REPORTED_IP = reported(data={"link": "up"}, networkData={"ips": ["10.0.0.1"]})


def hint(trial, resource):
    [found] = [
        each.hint
        for each in trial.plugin.events_to_register()
        if each.event.resource.endswith(resource)
    ]
    return found


@pytest.mark.parametrize(
    ("known", "old", "new", "wakes"),
    [
        pytest.param([OWN], None, OWN, True, id="own-claim-added"),
        pytest.param([OWN], OWN, HAS, True, id="own-claim-allocated"),
        pytest.param([OWN], HAS, OWN, True, id="own-claim-deallocated"),
        pytest.param([OWN], OWN, OWN, False, id="own-claim-changed-in-no-way"),
        pytest.param([OWN], REPORTED, HAS, True, id="driver-reports-data"),
        pytest.param([OWN], REPORTED, REPORTED_IP, True, id="driver-reports-an-address"),
        pytest.param([OWN], sharing("1Gi"), sharing("2Gi"), True, id="other-capacity"),
        pytest.param([OWN], sharing("1Gi"), sharing("1073741824"), False, id="same-capacity"),
        pytest.param([OWN], None, OTHER, False, id="other-claim-added"),
        pytest.param([OWN], OTHER, OTHER_HAS, False, id="other-claim-allocated"),
        pytest.param([OWN], OTHER_HAS, OTHER, True, id="devices-freed"),
        pytest.param([], OTHER_HAS, OTHER, False, id="own-claim-is-missing"),
        pytest.param([OWN], OTHER_HAS, None, True, id="devices-freed-by-deletion"),
        pytest.param([OWN], OTHER, None, False, id="deletion-that-frees-nothing"),
    ],
)
def test_claims(known, old, new, wakes):
    trial = Trial(*two_nodes(), *known)

    assert hint(trial, "ResourceClaim")(claiming("gpu"), old, new) is wakes


def test_claim_of_a_template_is_there():
    owner = {"kind": "Pod", "name": "web", "uid": "uid-web", "controller": True}
    trial = Trial(*two_nodes(), resource_claim("gpu-x", owner_references=[owner]))
    made = hint(trial, "TargetPod")

    assert made(templated(), templated(), templated("gpu-x"))
    assert not made(templated(), templated(), templated("gpu-y"))
    assert not made(templated(), pod("other"), pod("other"))  # in 1.36 it hears of all pods


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        pytest.param(None, OWN, ["default/gpu"], id="added"),
        pytest.param(OWN, HAS, ["default/gpu"], id="allocated"),
        pytest.param(HAS, HAS, ["default/gpu"], id="reserved-for-another-pod"),
        pytest.param(OWN, None, ["default/gpu"], id="deleted"),
        pytest.param(HAS, OWN, None, id="deallocated"),
        pytest.param(HAS, None, None, id="deleted-with-devices"),
    ],
)
def test_whom_a_change_of_a_claim_concerns(old, new, names):
    """What frees devices may help every pod; anything else only those that use the claim."""
    assert CLAIM_TOPIC.of_change(old, new) == names
    trial = Trial(*two_nodes(), OWN, OTHER)
    if names is not None:
        assert not hint(trial, "ResourceClaim")(claiming("other"), old, new)


def test_topics_of_a_pod():
    assert set(CLAIM_TOPIC.of_pod(claiming("gpu", "nic"))) == {"default/gpu", "default/nic"}
    assert set(CLAIM_TOPIC.of_pod(templated("gpu-x"))) == {"default/gpu-x"}
    assert set(CLAIM_TOPIC.of_pod(templated())) == set()
