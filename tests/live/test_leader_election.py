"""Leader election as a process runs it: against an API that answers, refuses or hangs."""

import asyncio
import re

import pytest

from podium.api.meta import ObjectMeta
from podium.api.objects import Lease, LeaseSpec
from podium.clock import FakeClock, give_way
from podium.config import LeaderElection as Settings
from podium.errors import Conflict, NotFound, Unreachable
from podium.live.election import Elector, Record
from podium.live.leader_election import Callbacks, LeaderElection, new_identity
from podium.live.lease_lock import LeaseLock, spec_of
from podium.metrics import Metrics

NAMESPACE, NAME = "kube-system", "kube-scheduler"


class FakeApi:
    """One Lease and some events; ``hang`` keeps all answers back, ``broken`` refuses everything."""

    def __init__(self):
        self.lease = None
        self.events = []
        self.calls = []
        self.hang = False
        self.broken = False

    async def _request(self, call):
        self.calls.append(call)
        if self.hang:
            await asyncio.Event().wait()
        if self.broken:
            raise Unreachable("connection refused")

    async def get_lease(self, key):
        await self._request("get")
        assert key == f"{NAMESPACE}/{NAME}"
        if self.lease is None:
            raise NotFound("no lease")
        return self.lease

    async def create_lease(self, lease):
        await self._request("create")
        if self.lease is not None:
            raise Conflict("already exists")
        return self.store(lease.spec)

    async def update_lease(self, lease):
        await self._request("update")
        if lease.metadata.resource_version != self.lease.metadata.resource_version:
            raise Conflict("newer")
        return self.store(lease.spec)

    def store(self, spec):
        version = int(self.lease.metadata.resource_version) + 1 if self.lease else 1
        names = {"name": NAME, "namespace": NAMESPACE, "uid": "lease-uid"}
        self.lease = Lease(ObjectMeta(**names, resource_version=str(version)), spec)
        return self.lease

    async def create_core_event(self, namespace, event):
        await self._request("event")
        assert namespace == NAMESPACE
        self.events.append(event)

    def take(self, holder):
        """Another candidate writes itself into the lease."""
        self.store(spec_of(Record(holder, 15, 0.0, 0.0, 9)))

    @property
    def holder(self):
        return self.lease.spec.holder_identity


class Process:
    """A candidate, and what it was told."""

    def __init__(self, api, clock, name="me"):
        self.told = []
        self.clock = clock
        self.metrics = Metrics()
        elector = Elector(name, Settings(), clock, self.metrics, lambda: 0.5)
        callbacks = Callbacks(
            on_leading=lambda: self.told.append("lead"),
            on_lost=lambda: self.told.append(f"lost after {api.calls[-1]}"),
        )
        lock = LeaseLock(api, NAMESPACE, NAME)
        self.election = LeaderElection(elector, lock, callbacks, clock, "my-scheduler")
        self.run = asyncio.ensure_future(self.election.run())

    async def pass_time(self, seconds):
        """Second by second, so that timers set on the way fire as well."""
        await settle()
        for _ in range(seconds):
            self.clock.advance(1)
            await settle()


async def settle():
    for _ in range(30):
        await give_way()


def test_a_leader_renews_and_releases_when_asked_to_stop():
    async def scenario():
        api = FakeApi()
        process = Process(api, FakeClock())
        await process.pass_time(0)
        assert (process.told, process.election.is_leading, api.holder) == (["lead"], True, "me")

        await process.pass_time(60)
        renewals = api.calls.count("update")
        assert renewals == 31
        assert api.calls.count("get") == 1, "renewals do not read"

        process.election.stop()
        await process.pass_time(0)
        assert await process.run is False
        assert (process.told, process.election.is_leading, api.holder) == (["lead"], False, "")

    asyncio.run(scenario())


def test_events_name_the_lease_and_the_profile():
    async def scenario():
        api = FakeApi()
        process = Process(api, FakeClock(1_700_000_000.25))
        await process.pass_time(0)
        process.election.stop()
        await process.pass_time(0)
        await process.run

        first, last = api.events
        assert first == {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"kube-scheduler.{1_700_000_000_250_000_000:x}",
                "namespace": NAMESPACE,
            },
            "involvedObject": {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "namespace": NAMESPACE,
                "name": NAME,
                "uid": "lease-uid",
                "resourceVersion": "1",
            },
            "type": "Normal",
            "reason": "LeaderElection",
            "message": "me became leader",
            "source": {"component": "my-scheduler"},
            "reportingComponent": "my-scheduler",
            "reportingInstance": "",
            "firstTimestamp": "2023-11-14T22:13:20Z",
            "lastTimestamp": "2023-11-14T22:13:20Z",
            "count": 1,
        }
        assert last["message"] == "me stopped leading"

    asyncio.run(scenario())


def test_a_lost_lease_is_told_before_anything_else_is_tried():
    async def scenario():
        api = FakeApi()
        process = Process(api, FakeClock())
        await process.pass_time(4)

        api.broken = True
        await process.pass_time(12)

        assert process.told == ["lead", "lost after get"]
        assert await process.run is True
        assert process.metrics.leading.series() == {(NAME,): 0}
        assert api.holder == "me", "it could not be released"

    asyncio.run(scenario())


def test_requests_that_hang_are_given_up():
    async def scenario():
        api = FakeApi()
        process = Process(api, FakeClock())
        await process.pass_time(4)
        before = len(api.calls)

        api.hang = True
        await process.pass_time(11)
        assert process.told == ["lead"]
        await process.pass_time(1)

        assert process.told == ["lead", "lost after get"]
        assert api.calls[before:] == ["update", "get", "get"], "the last one is the release"
        await process.pass_time(10)
        assert await process.run is True

    asyncio.run(scenario())


def test_a_leader_whose_lease_was_taken_leaves_it_alone():
    async def scenario():
        api = FakeApi()
        process = Process(api, FakeClock())
        await process.pass_time(1)

        api.take("other")
        await process.pass_time(1)

        assert process.told == ["lead", "lost after get"]
        assert await process.run is True
        assert api.holder == "other"

    asyncio.run(scenario())


@pytest.mark.parametrize("hang", [False, True], ids=["between-requests", "in-a-request"])
def test_a_standby_stops_without_a_word(hang):
    async def scenario():
        api = FakeApi()
        api.take("other")
        api.hang = hang
        process = Process(api, FakeClock())
        await process.pass_time(3)

        process.election.stop()
        await process.pass_time(0)

        assert await process.run is False
        assert (process.told, api.events, api.holder) == ([], [], "other")

    asyncio.run(scenario())


async def stopped_in_a_renewal(api):
    """Whether the process leads to the end, when it is stopped while a renewal hangs."""
    process = Process(api, FakeClock())
    await process.pass_time(1)
    api.hang = True
    await process.pass_time(2)
    api.hang = False
    process.election.stop()
    await process.pass_time(0)
    return await process.run


def test_a_stop_while_a_renewal_hangs_still_releases():
    async def scenario():
        api = FakeApi()

        assert await stopped_in_a_renewal(api) is False
        assert api.holder == ""

    asyncio.run(scenario())


class LateApi(FakeApi):
    """A write that was cut off is carried out all the same, just before the next one."""

    late = None

    async def update_lease(self, lease):
        if self.hang:
            self.late = lease.spec
        elif self.late is not None:
            self.store(self.late)
            self.late = None
        return await super().update_lease(lease)


def test_a_renewal_that_comes_late_does_not_keep_the_lease():
    async def scenario():
        api = LateApi()

        assert await stopped_in_a_renewal(api) is False
        assert (api.late, api.holder) == (None, "")
        assert api.calls[-6:].count("update") == 3  # cut off, in vain, and the release

    asyncio.run(scenario())


def test_a_stop_during_the_release_of_a_lost_lease_changes_nothing():
    async def scenario():
        api = FakeApi()
        process = Process(api, FakeClock())
        await process.pass_time(1)
        api.hang = True
        await process.pass_time(13)
        assert process.told == ["lead", "lost after get"]

        process.election.stop()
        await process.pass_time(10)

        assert await process.run is True

    asyncio.run(scenario())


def test_events_do_not_hold_up_renewals():
    class Deaf(FakeApi):
        async def create_core_event(self, namespace, event):
            await asyncio.Event().wait()

    async def scenario():
        api = Deaf()
        process = Process(api, FakeClock())
        await process.pass_time(10)
        assert api.calls.count("update") == 6
        process.election.stop()
        await process.pass_time(1)
        assert api.holder == ""
        assert await process.run is False

    asyncio.run(scenario())


def test_a_fault_of_ours_ends_the_leadership():
    class Faulty(FakeApi):
        async def update_lease(self, lease):
            raise KeyError("a bug")

    async def scenario():
        process = Process(Faulty(), FakeClock())
        await process.pass_time(0)

        with pytest.raises(KeyError, match="a bug"):
            await process.run
        assert process.told == ["lead", "lost after event"]
        assert process.election.is_leading is False

    asyncio.run(scenario())


def test_of_two_processes_one_leads_and_the_other_follows():
    async def scenario():
        api, clock = FakeApi(), FakeClock()
        first, second = Process(api, clock), Process(api, clock, "you")
        await first.pass_time(60)
        assert (first.told, second.told) == (["lead"], [])

        first.run.cancel()  # it dies without a word to the API
        await asyncio.gather(first.run, return_exceptions=True)
        await first.pass_time(20)
        assert second.told == ["lead"]
        assert api.lease.spec.lease_transitions == 1

        second.election.stop()
        await first.pass_time(0)
        assert await second.run is False

    asyncio.run(scenario())


def test_a_lease_that_cannot_be_read_is_tried_again():
    async def scenario():
        api = FakeApi()
        api.store(LeaseSpec("you", 15, renew_time="yesterday"))
        process = Process(api, FakeClock())
        await process.pass_time(60)
        assert (process.told, process.run.done()) == ([], False)

        api.store(LeaseSpec())
        await process.pass_time(10)
        assert process.told == ["lead"]

        process.election.stop()
        await process.pass_time(0)
        assert await process.run is False

    asyncio.run(scenario())


def test_identities_differ():
    one, other = new_identity(), new_identity()

    assert one != other
    assert re.fullmatch(r".+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", one)
