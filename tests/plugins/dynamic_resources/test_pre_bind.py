"""PreBind writes what Reserve has taken; what fails is undone or tried again."""

import asyncio
from collections import deque

import msgspec
import pytest

from podium import framework as fwk
from podium.api.objects import ResourceClaim
from podium.api.resource_claims import FINALIZER
from podium.devices import DeviceRules
from podium.errors import ApiError, Conflict, Forbidden, NotFound, Unreachable
from podium.plugins.dynamic_resources import DynamicResources
from podium.testing.builders_devices import resource_claim
from podium.testing.handle import FakeClient
from tests.support.dynamic_resources import (
    Trial,
    allocated,
    claiming,
    device,
    devices_of,
    two_nodes,
)

NOW = "2023-11-14T22:13:20Z"
CONFLICT = Conflict("the object has been modified", 409)
FORBIDDEN = Forbidden("not allowed", 403)
NO_ANSWER = Unreachable("no answer", sent=True)
TIMED_OUT = ApiError("the request took too long", 408)


class FaultyClient(FakeClient):
    """Raises the next fault instead of writing; ``current`` is the claim as the API has it."""

    def __init__(self, current: ResourceClaim | None = None, **faults) -> None:
        super().__init__()
        self.current = current
        self._faults = {name: deque(each) for name, each in faults.items()}

    def _fail(self, name):
        if self._faults.get(name):
            raise self._faults[name].popleft()

    async def set_finalizers(self, claim, finalizers):
        self._fail("finalizers")
        return await super().set_finalizers(claim, finalizers)

    async def patch_claim_status(self, claim, status):
        self._fail("status")
        return await super().patch_claim_status(claim, status)

    async def read(self, kind, key):
        self._fail("read")
        if self.current is None:
            raise NotFound(f'resourceclaims.resource.k8s.io "{key}" not found', 404)
        return self.current


def reserved(*claims, client=None, rules=None, pod_claims=("gpu",)):
    """A pod that has reserved its claims on node a."""
    trial = Trial(*two_nodes(), *claims, rules=rules)
    if client is not None:
        trial.handle.client = client
    assert trial.reserve(claiming(*pod_claims)).ok
    return trial


def renewed(claim, version="7", **metadata):
    """Another version of the claim."""
    metadata = msgspec.structs.replace(claim.metadata, resource_version=version, **metadata)
    return msgspec.structs.replace(claim, metadata=metadata)


def test_allocation_and_reservation():
    trial = reserved(resource_claim("gpu"))

    assert trial.pre_bind(claiming("gpu")).ok

    [finalizers, status] = trial.handle.client.writes
    assert finalizers == ("finalizers", "default/gpu", (FINALIZER,))
    consumer = {"resource": "pods", "name": "web", "uid": "uid-web"}
    assert msgspec.to_builtins(status[2]["reservedFor"]) == [consumer]
    assert devices_of(status[2]["allocation"]) == ["a/gpu-0"]
    assert status[2]["allocation"].allocation_timestamp == NOW
    # The claim is known with its devices before the watch shows it, and is not in flight.
    claim = trial.claim("gpu")
    assert (devices_of(claim.status.allocation), trial.devices.in_flight) == (["a/gpu-0"], 0)
    assert trial.taken == ["a/gpu-0"]


def test_without_binding_conditions_no_time_is_written():
    trial = reserved(resource_claim("gpu"), rules=DeviceRules(binding_conditions=False))

    trial.pre_bind(claiming("gpu"))

    assert trial.claim("gpu").status.allocation.allocation_timestamp == ""


def test_reservation_alone():
    shared = resource_claim("gpu", allocated=device("a/gpu-0"), reserved_for="other")
    trial = reserved(shared, rules=DeviceRules(binding_conditions=False))

    assert trial.pre_bind(claiming("gpu")).ok

    [(what, _, status)] = trial.handle.client.writes
    assert (what, list(status)) == ("claim status", ["reservedFor"])
    assert [each.name for each in trial.claim("gpu").status.reserved_for] == ["other", "web"]


def test_claim_that_is_reserved_already():
    done = resource_claim("gpu", allocated=device("a/gpu-0"), reserved_for="web")
    trial = reserved(done)

    assert trial.pre_bind(claiming("gpu")).ok
    assert trial.handle.client.writes == []


def test_conflicts_are_tried_again_with_the_current_claim():
    claim = resource_claim("gpu")
    client = FaultyClient(renewed(claim, labels={"new": "yes"}), status=[CONFLICT] * 4)
    trial = reserved(claim, client=client)

    assert trial.pre_bind(claiming("gpu")).ok
    assert trial.claim("gpu").labels == {"new": "yes"}


@pytest.mark.parametrize(
    ("client", "message"),
    [
        pytest.param(
            FaultyClient(finalizers=[FORBIDDEN]),
            "add finalizer to claim default/gpu: not allowed",
            id="finalizer",
        ),
        pytest.param(
            FaultyClient(status=[FORBIDDEN]),
            "add allocation and reservation to claim default/gpu: not allowed",
            id="status",
        ),
        pytest.param(
            FaultyClient(resource_claim("gpu"), status=[CONFLICT] * 5),
            "add allocation and reservation to claim default/gpu: the object has been modified",
            id="too-many-conflicts",
        ),
        pytest.param(
            FaultyClient(status=[CONFLICT]),
            "get updated claim default/gpu after conflict: "
            'resourceclaims.resource.k8s.io "default/gpu" not found',
            id="gone",
        ),
        pytest.param(
            FaultyClient(
                resource_claim("gpu", deletion_timestamp="2026-01-01T00:00:00Z"), status=[CONFLICT]
            ),
            "claim default/gpu got deleted in the meantime",
            id="being-deleted",
        ),
        pytest.param(
            FaultyClient(resource_claim("gpu", allocated=device("b/gpu-0")), status=[CONFLICT]),
            "claim default/gpu got allocated elsewhere in the meantime",
            id="allocated-elsewhere",
        ),
    ],
)
def test_what_fails(client, message):
    """Afterwards nothing stays reserved."""
    trial = reserved(resource_claim("gpu"), client=client)

    assert trial.pre_bind(claiming("gpu")) == fwk.Status.error(message)

    trial.unreserve(claiming("gpu"))
    assert (trial.devices.in_flight, trial.taken) == (0, [])


def test_claim_that_is_deallocated_meanwhile():
    shared = resource_claim("gpu", allocated=device("a/gpu-0"))
    client = FaultyClient(resource_claim("gpu"), status=[CONFLICT])
    trial = reserved(shared, client=client)

    status = trial.pre_bind(claiming("gpu"))

    text = "claim default/gpu got deallocated elsewhere in the meantime"
    assert status == fwk.Status.error(text)


def test_second_claim_that_fails():
    """The first one keeps its devices, as it was written; only the reservation is undone."""
    claims = resource_claim("one"), resource_claim("two")
    trial = reserved(*claims, pod_claims=("one", "two"))
    asking = claiming("one", "two")
    written = trial.handle.client
    trial.handle.client = FailingSecond(written)

    assert not trial.pre_bind(asking).ok
    trial.unreserve(asking)

    assert written.writes[-1] == ("remove consumer", "default/one", "uid-web")
    assert trial.claim("one").status.reserved_for == ()
    assert (trial.taken, trial.devices.in_flight) == (["a/gpu-0"], 0)


class FailingSecond:
    """Refuses to write the claim called two."""

    def __init__(self, client) -> None:
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    async def patch_claim_status(self, claim, status):
        if claim.name == "two":
            raise FORBIDDEN
        return await self._client.patch_claim_status(claim, status)


# --- writes without an answer ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("current", "taken"),
    [
        pytest.param(resource_claim("gpu"), [], id="was-not-written"),
        pytest.param(
            renewed(resource_claim("gpu", allocated=device("a/gpu-0"))),
            ["a/gpu-0"],
            id="was-written",
        ),
        pytest.param(None, [], id="claim-is-gone"),
    ],
)
@pytest.mark.parametrize("fault", [NO_ANSWER, TIMED_OUT], ids=["no-answer", "timed-out"])
def test_devices_stay_taken_until_it_is_clear_that_nothing_was_written(current, taken, fault):
    client = FaultyClient(current, status=[fault], read=[NO_ANSWER])
    trial = reserved(resource_claim("gpu"), client=client)
    asking = claiming("gpu")

    assert not trial.pre_bind(asking).ok
    trial.unreserve(asking)
    assert trial.taken == ["a/gpu-0"]
    assert trial.pre_filter(asking).is_rejection  # still in flight

    assert trial.run_spawned() == ["write of claim default/gpu"]
    assert (trial.taken, trial.devices.in_flight) == (taken, 0)
    assert trial.handle.activated == [asking]


def test_watch_may_be_faster_than_the_answer():
    trial = reserved(resource_claim("gpu"))
    shown = renewed(resource_claim("gpu", allocated=device("a/gpu-0")))
    trial.cluster.set_object(shown)

    assert trial.taken == ["a/gpu-0"]
    trial.unreserve(claiming("gpu"))
    assert trial.taken == ["a/gpu-0"]


def test_older_versions_never_win():
    trial = reserved(resource_claim("gpu", resource_version="5"))
    trial.pre_bind(claiming("gpu"))

    trial.cluster.set_object(resource_claim("gpu", resource_version="6"))  # with the finalizer only

    assert devices_of(trial.claim("gpu").status.allocation) == ["a/gpu-0"]
    assert trial.taken == ["a/gpu-0"]


def test_claim_that_is_deleted_while_it_is_in_flight():
    trial = reserved(resource_claim("gpu"))
    trial.cluster.remove_object(ResourceClaim, "default/gpu")
    assert trial.taken == ["a/gpu-0"]

    trial.unreserve(claiming("gpu"))

    assert trial.taken == []


def test_preemption_cancels_a_write():
    """Whether the write was carried out is asked, too."""
    trial = reserved(resource_claim("gpu"))
    asking = claiming("gpu")

    async def hang(claim, status):
        await asyncio.sleep(3600)

    trial.handle.client.patch_claim_status = hang

    async def cancelled():
        task = asyncio.ensure_future(trial.plugin.pre_bind(trial.state, asking, "a"))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    trial.unreserve(asking)

    assert trial.taken == ["a/gpu-0"]
    trial.run_spawned()
    assert (trial.taken, trial.devices.in_flight) == ([], 0)


def test_profiles_share_what_is_in_flight():
    trial = reserved(resource_claim("gpu"), resource_claim("other", count=2))
    of_another_profile = DynamicResources(DynamicResources.Args(), trial.handle)
    state, asking = fwk.CycleState(), claiming("gpu", name="another")

    assert of_another_profile.pre_filter(state, asking, trial.handle.rows).is_rejection
    asking = claiming("other", name="another")
    of_another_profile.pre_filter(state, asking, trial.handle.rows)
    statuses = of_another_profile.filter_all(state, asking, trial.handle.rows)
    assert [status.ok for status in statuses] == [False, True]


def test_pods_that_share_a_claim_write_it_in_turns():
    """Each adds itself to the version that the last one has written, so that none conflicts."""
    trial = Trial(*two_nodes(), allocated())
    pods = [claiming("gpu", name=name) for name in ("one", "two", "three")]
    states = []
    for each in pods:
        assert trial.reserve(each).ok
        states.append(trial.state)

    async def bind_all():
        binding = zip(states, pods, strict=True)
        await asyncio.gather(*(trial.plugin.pre_bind(state, each, "a") for state, each in binding))

    trial.run(bind_all())

    users = [consumer.name for consumer in trial.claim("gpu").status.reserved_for]
    assert users == ["one", "two", "three"]
    assert [len(status["reservedFor"]) for *_, status in trial.handle.client.writes] == [1, 2, 3]
