"""Leader election on the embedded API server, beside the official Python client's candidate."""

import asyncio
import threading

import kubernetes
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock as TheirLock

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.app.live import embedded_connection
from podium.client.api_client import ApiClient
from podium.clock import FakeClock, LoopClock
from podium.config import LeaderElection as Settings
from podium.errors import ApiError
from podium.live.election import Create, Elector, Get, Leading, Lost, Stopped, Update, Wait
from podium.live.event_loop import SideThread
from podium.live.leader_election import Callbacks, LeaderElection
from podium.live.lease_lock import LeaseLock
from podium.metrics import Metrics

NAMESPACE, NAME = "kube-system", "kube-scheduler"
SOON = 30  # seconds until a test that hangs is ended


class Ours:
    """Our candidate, on a clock that the test moves."""

    def __init__(self, connection, clock):
        self.clock = clock
        self.client = ApiClient(connection)
        self._lock = LeaseLock(self.client, NAMESPACE, NAME)
        self._steps = Elector("ours", Settings(), clock, Metrics(), lambda: 0.5).run()
        self._step = None

    async def look(self):
        """Go on from a step that needs no request to the next such step, or to the end."""
        if self._step is None:
            return await self._go_on(lambda: next(self._steps))
        return await self._go_on(lambda: self._steps.send(None))

    async def wait(self):
        self.clock.advance(self._step.seconds)
        return await self.look()

    async def stop(self):
        return await self._go_on(lambda: self._steps.throw(Stopped()))

    async def _go_on(self, advance):
        try:
            self._step = advance()
            while isinstance(self._step, Get | Create | Update):
                try:
                    answer = await self._request(self._step)
                except ApiError as fault:
                    self._step = self._steps.throw(fault)
                else:
                    self._step = self._steps.send(answer)
        except StopIteration:
            return None
        return self._step

    async def _request(self, step):
        match step:
            case Get():
                return await self._lock.get()
            case Create(record):
                await self._lock.create(record)
            case Update(record):
                await self._lock.update(record)
        return None


class Theirs:
    """The recipe of the official client, one attempt at a time."""

    def __init__(self, url):
        self._client = kubernetes.client.ApiClient(kubernetes.client.Configuration(host=url))
        lock = TheirLock(NAME, NAMESPACE, "theirs")
        lock.api_instance = kubernetes.client.CoordinationV1Api(self._client)
        config = electionconfig.Config(lock, 15, 10, 2, print, print)
        self._election = leaderelection.LeaderElection(config)

    async def look(self):
        return await asyncio.to_thread(self._election.try_acquire_or_renew)

    async def take_over(self):
        """As if ours had been suspended until its lease ran out."""
        await self.look()
        self._election.observed_time_milliseconds = 0
        assert await self.look()

    def close(self):
        self._client.close()


def with_both(scenario):
    async def run():
        clock = FakeClock()
        async with (
            EmbeddedServer(new_api(clock)) as server,
            embedded_connection(server.url, clock) as connection,
        ):
            theirs = Theirs(server.url)
            try:
                await scenario(Ours(connection, clock), theirs)
            finally:
                theirs.close()

    asyncio.run(run())


async def lease(ours):
    return (await ours.client.get_lease(f"{NAMESPACE}/{NAME}")).spec


def test_their_lease_is_respected_until_it_runs_out():
    async def scenario(ours, theirs):
        assert await theirs.look()
        assert isinstance(await ours.look(), Wait)
        ours.clock.advance(8.5)
        assert isinstance(await ours.wait(), Wait), "11.7 s"
        assert isinstance(await ours.wait(), Wait), "14.9 s"
        assert isinstance(await ours.wait(), Leading), "18.1 s"

        assert not await theirs.look(), "they respect ours"
        spec = await lease(ours)
        assert (spec.holder_identity, spec.lease_transitions) == ("ours", 1)

    with_both(scenario)


def test_our_lease_is_respected_and_taken_when_released():
    async def scenario(ours, theirs):
        assert isinstance(await ours.look(), Leading)
        assert not await theirs.look()
        assert isinstance(await ours.look(), Wait), "renewed"
        assert not await theirs.look()

        assert await ours.stop() is None
        assert (await lease(ours)).holder_identity == ""
        assert await theirs.look(), "at once"
        assert (await lease(ours)).holder_identity == "theirs"

    with_both(scenario)


def test_a_lease_that_was_taken_is_left_to_them():
    async def scenario(ours, theirs):
        assert isinstance(await ours.look(), Leading)
        assert isinstance(await ours.look(), Wait)
        await theirs.take_over()

        assert isinstance(await ours.wait(), Lost)
        assert await ours.look() is None
        assert (await lease(ours)).holder_identity == "theirs"

    with_both(scenario)


def test_a_whole_candidacy_in_a_thread_of_its_own():
    leading = threading.Event()

    async def candidacy(url, started):
        clock = LoopClock()
        async with embedded_connection(url, clock) as connection:
            elector = Elector("ours", Settings(), clock, Metrics())
            lock = LeaseLock(ApiClient(connection), NAMESPACE, NAME)
            callbacks = Callbacks(on_leading=leading.set, on_lost=lambda: None)
            election = LeaderElection(elector, lock, callbacks, clock, "default-scheduler")
            started.append(election)
            return await election.run()

    async def scenario():
        api = new_api(FakeClock())
        started = []
        async with EmbeddedServer(api) as server:
            with SideThread() as side:
                running = side.spawn(candidacy(server.url, started))
                assert await asyncio.to_thread(leading.wait, SOON)
                assert started[0].is_leading
                side.call(started[0].stop)
                assert await asyncio.wrap_future(running) is False
            async with embedded_connection(server.url, LoopClock()) as connection:
                client = ApiClient(connection)
                spec = (await client.get_lease(f"{NAMESPACE}/{NAME}")).spec
                events = await connection.get(f"/api/v1/namespaces/{NAMESPACE}/events")
        assert (spec.holder_identity, spec.lease_duration_seconds) == ("", 1)
        assert b"ours became leader" in events
        assert b"ours stopped leading" in events

    asyncio.run(scenario())
