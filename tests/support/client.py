"""An embedded API server on loopback with a client of ours; all waiting is by one FakeClock."""

import asyncio
import functools
import inspect
import json
from dataclasses import dataclass, field

from podium.apiserver.api import Api
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.server import EmbeddedServer
from podium.client.api_client import ApiClient
from podium.client.endpoint import Endpoint
from podium.client.http import Connection, Options, Request
from podium.client.informer import Informer
from podium.clock import FakeClock, give_way
from tests.support.faulty_proxy import FaultyProxy

UNLIMITED = Options(qps=-1, user_agent="podium/test")
TURNS = 200_000  # of the event loop: far more than any test needs
HANGS_SECONDS = 60  # a test that waits for a time that nobody lets pass
QUIET_TURNS = 60  # more than a request takes from end to end


@dataclass
class World:
    """A server, its objects, and a connection to it."""

    api: Api
    proxy: FaultyProxy
    clock: FakeClock
    connection: Connection
    tasks: list[asyncio.Task] = field(default_factory=list)
    stories: list = field(default_factory=list)

    @property
    def cluster(self):
        return Cluster(self.api)

    @property
    def client(self):
        return ApiClient(self.connection)

    def create(self, kind, **obj):
        return self.cluster.create(kind, obj)

    def follow(self, resource):
        """A running informer and the story that its handlers were told."""
        informer = Informer(self.connection, resource)
        story = Story()
        self.stories.append(story)
        informer.subscribe(story.tell)
        self.start(informer.run())
        return informer, story

    def follow_plain(self, resource):
        """A running informer of plain dicts, and the changes that it told of."""
        informer, told = Informer(self.connection, resource), []
        informer.subscribe(lambda old, new: told.append((old, new)))
        self.start(informer.run())
        return informer, told

    async def post(self, path, body):
        return await self.connection.send(Request("POST", path, json.dumps(body).encode()))

    def start(self, work):
        self.tasks.append(asyncio.ensure_future(work))
        return self.tasks[-1]

    async def until(self, condition):
        """Let the loop turn until something is so. Sockets answer within the turns."""
        for _ in range(TURNS):
            if condition():
                return
            await give_way()
        raise AssertionError(f"never so: {inspect.getsource(condition).strip()}")

    async def in_time(self, condition, limit=4 * 3600.0):
        """Let time pass, from one timer to the next, until something is so."""
        end = self.clock.now() + limit
        while not condition():
            assert self.clock.now() < end, f"never so: {inspect.getsource(condition).strip()}"
            await self.quiet()
            if not condition():
                self.clock.advance(self.clock.until_next() or 1.0)

    async def quiet(self):
        """Let the loop turn until nothing goes to and fro: all that is left is to wait."""
        seen, turns = -1, 0
        while turns < QUIET_TURNS:
            turns = turns + 1 if self.proxy.activity == seen else 0
            seen = self.proxy.activity
            await give_way()

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for task in self.tasks:
            assert task.cancelled() or task.exception() is None, task


class Story:
    """What handlers hear, checked as it is told: nothing unknown changes, nothing is added twice,
    nobody returns from the dead, and no object becomes older."""

    def __init__(self):
        self.told = []
        self.known = {}
        self.dead = set()
        self.faults = []

    def tell(self, old, new):
        try:
            self._check(old, new)
        except AssertionError as fault:  # an informer bears handlers that fail; a test does not
            self.faults.append(fault)

    def _check(self, old, new):
        key = (old or new).key
        assert self.known.get(key) is old, (key, old, new)
        if new is None:
            del self.known[key]
            self.dead.add(old.uid)
        else:
            assert new.uid not in self.dead
            self.known[key] = new
        if old and new:
            assert old.uid == new.uid
            assert version(old) < version(new)
        self.told.append(("add" if old is None else "delete" if new is None else "update", key))


def version(obj):
    return int(obj.metadata.resource_version)


def with_world(test):
    """Run a test coroutine with a fresh world."""

    @functools.wraps(test)
    def wrapper(*args, **kwargs):
        asyncio.run(_run(test, *args, **kwargs))

    del wrapper.__wrapped__  # pytest must not take the world for a fixture
    parameters = list(inspect.signature(test).parameters.values())[1:]
    wrapper.__signature__ = inspect.Signature(parameters)
    return wrapper


async def _run(test, *args, **kwargs):
    clock = FakeClock()
    api = new_api(clock, history=50, seed=1)
    async with EmbeddedServer(api, clock=clock) as server, FaultyProxy(server.url, clock) as proxy:
        endpoint = Endpoint(proxy.url, "the test")
        async with Connection(endpoint, clock, UNLIMITED) as connection:
            world = World(api, proxy, clock, connection)
            try:
                async with asyncio.timeout(HANGS_SECONDS):
                    await test(world, *args, **kwargs)
            finally:
                await world.stop()
            assert not [fault for story in world.stories for fault in story.faults]
    api.store.check_invariants()


def pod(name="p", **spec):
    containers = [{"name": "c", "image": "nginx:1"}]
    meta = {"name": name, "namespace": "default"}
    return {"metadata": meta, "spec": {"containers": containers, **spec}}


def node(name="n"):
    return {"metadata": {"name": name}}


STREAMED = "sendInitialEvents=true"


def listed(world, part="limit="):
    """The requests for lists: streamed, or in pages where the server does not stream."""
    if world.proxy.streams_lists:
        return [one for one in world.proxy.requests if STREAMED in one.path]
    return [one for one in world.proxy.requests if part in one.path and "watch" not in one.path]


def watched(world):
    watches = [one for one in world.proxy.requests if "watch=true" in one.path]
    return [one for one in watches if world.proxy.streams_lists or STREAMED not in one.path]
