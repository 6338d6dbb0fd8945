"""PreBind waits for devices that must be prepared."""

import msgspec
import pytest

from podium import framework as fwk
from podium.api.objects import ResourceClaim
from podium.testing.builders import node
from podium.testing.builders_devices import (
    DRIVER,
    device,
    device_class,
    resource_claim,
    resource_slice,
)
from tests.support.dynamic_resources import Trial, claiming

PREPARED = device("gpu-0", binding_conditions=["Ready"], binding_failure_conditions=["Broken"])


def waiting(**args):
    """A pod whose device must be prepared, reserved on node a."""
    slices = resource_slice("a-gpus", node="a", devices=[PREPARED])
    trial = Trial(node("a"), device_class("gpu"), slices, resource_claim("gpu"), **args)
    assert trial.reserve(claiming("gpu")).ok
    return trial


def prepared(trial, **conditions):
    """The claim as a driver reports the conditions of its device."""
    claim = trial.claim("gpu")
    found = [
        {"type": name, "status": value, "reason": "Why", "message": 'a "bad" cable'}
        for name, value in conditions.items()
    ]
    reported = {"driver": DRIVER, "pool": "a", "device": "gpu-0", "conditions": found}
    plain = msgspec.to_builtins(claim)
    plain["status"]["devices"] = [reported]
    return msgspec.convert(plain, ResourceClaim)


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        pytest.param({"Ready": "True"}, fwk.SUCCESS, id="ready"),
        pytest.param(
            {"Ready": "True", "Broken": "True"},
            fwk.Status.error(
                'device binding failed: claim=gpu, reason=Why, message="a \\"bad\\" cable"'
            ),
            id="broken",
        ),
        pytest.param(
            {"Ready": "False"},
            fwk.Status.error("device binding timeout: context deadline exceeded"),
            id="never",
        ),
    ],
)
def test_waits_for_the_driver(conditions, status):
    trial = waiting(binding_timeout=30.0)

    def report():
        trial.cluster.set_object(prepared(trial, **conditions))

    assert trial.pre_bind(claiming("gpu"), then=report) == status

    [(pod, _, event)] = trial.handle.events.recorded
    assert (pod, event.reason, event.action) == (
        "default/web", "BindingConditionsPending", "Scheduling"
    )  # fmt: skip
    assert event.note == "waiting for binding conditions for device on node a"


def test_no_look_after_the_timeout():
    """The claims are looked at every five seconds, and not once more at the end."""
    trial = waiting(binding_timeout=3.0)

    def report():
        trial.cluster.set_object(prepared(trial, Ready="True"))

    late = fwk.Status.error("device binding timeout: context deadline exceeded")
    assert trial.pre_bind(claiming("gpu"), then=report) == late


def test_claim_that_another_pod_has_waited_for():
    """The time of a claim begins with its allocation."""
    trial = waiting(binding_timeout=30.0)

    def elapse():
        claim = msgspec.to_builtins(trial.claim("gpu"))
        claim["status"]["allocation"]["allocationTimestamp"] = "2023-11-14T22:00:00Z"
        trial.cluster.set_object(msgspec.convert(claim, ResourceClaim))

    status = trial.pre_bind(claiming("gpu"), then=elapse)

    assert status == fwk.Status.error("device binding timeout: claim=gpu")


def test_claim_that_disappears():
    trial = waiting()

    def disappear():
        trial.cluster.remove_object(ResourceClaim, "default/gpu")

    status = trial.pre_bind(claiming("gpu"), then=disappear)

    assert status == fwk.Status.error('could not find ResourceClaim "default/gpu"')


def test_failed_preparation_is_found_by_the_next_attempt():
    """The claim keeps its device until PostFilter deallocates it."""
    trial = waiting()
    asking = claiming("gpu")

    def fail():
        trial.cluster.set_object(prepared(trial, Broken="True"))

    assert not trial.pre_bind(asking, then=fail).ok
    trial.unreserve(asking)
    assert trial.claim("gpu").status.reserved_for == ()

    assert trial.feasible(asking) == ""
    assert trial.post_filter(asking).reasons == ("deallocation of ResourceClaim completed",)
    trial.run_spawned()
    assert trial.claim("gpu").status.allocation is None
    assert trial.feasible(asking) == "a"


class Counting:
    """Remembers what is counted."""

    def __init__(self) -> None:
        self.seen = []

    def device_wait_ended(self, profile, driver, status):
        self.seen.append(("ended", driver, status))

    def waited_for_devices(self, profile, driver, status, seconds):
        self.seen.append(("waited", driver, status, seconds))


@pytest.mark.parametrize(
    ("conditions", "label", "seconds"),
    [
        pytest.param({"Ready": "True"}, "success", 5.0, id="ready"),
        pytest.param({"Broken": "True"}, "failure", 5.0, id="broken"),
        pytest.param({}, "timeout", 30.0, id="never"),
    ],
)
def test_waits_are_counted(conditions, label, seconds):
    trial = waiting(binding_timeout=30.0)
    trial.handle.metrics = counting = Counting()

    trial.pre_bind(
        claiming("gpu"), then=lambda: trial.cluster.set_object(prepared(trial, **conditions))
    )

    assert counting.seen == [("waited", DRIVER, label, seconds), ("ended", DRIVER, label)]
