"""Connections in memory, and time that jumps."""

import asyncio
from random import Random

import pytest

from podium.chaos import simulated_time
from podium.chaos.network import Network
from podium.chaos.simulated_time import HOST, HostClock, tasks_of
from podium.clock import FakeClock, sleep


class Peer(asyncio.Protocol):
    def __init__(self):
        self.got, self.lost = b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.got += data

    def connection_lost(self, exc):
        self.lost = exc or True


def play(scene):
    clock = FakeClock()

    async def run():
        servers = []

        def accept():
            servers.append(Peer())
            return servers[-1]

        network = Network(clock, Random(1), accept)
        _, protocol = await network.dial("a", Peer)
        await scene(network, clock, protocol, servers[0])

    simulated_time.run(run(), clock)


def test_bytes_arrive_in_order():
    async def scene(network, clock, client, server):
        for part in (b"one ", b"two ", b"three"):
            client.transport.write(part)
        await sleep(clock, 1)
        assert server.got == b"one two three"

    play(scene)


@pytest.mark.parametrize("state", ["partitioned", "frozen"])
def test_what_a_host_cannot_read_arrives_later(state):
    async def scene(network, clock, client, server):
        getattr(network, state).add("a")
        server.transport.write(b"hello")
        client.transport.write(b"hello")
        await sleep(clock, 60)
        assert client.got == b""
        assert server.got == (b"hello" if state == "frozen" else b"")

        getattr(network, state).clear()
        network.release("a")
        assert (client.got, server.got) == (b"hello", b"hello")

    play(scene)


def test_a_host_that_is_killed_loses_its_connections_and_opens_no_others():
    async def scene(network, clock, client, server):
        network.kill("a")
        await sleep(clock, 1)
        assert client.lost
        assert isinstance(server.lost, ConnectionResetError)
        with pytest.raises(ConnectionRefusedError):
            await network.dial("a", Peer)

        network.start("a")
        await network.dial("a", Peer)

    play(scene)


def test_a_close_comes_after_what_was_written():
    async def scene(network, clock, client, server):
        client.transport.write(b"last words")
        client.transport.close()
        client.transport.write(b"never sent")
        await sleep(clock, 1)
        assert (server.got, server.lost) == (b"last words", True)

    play(scene)


def test_an_hour_passes_at_once_and_timers_are_in_order():
    clock, seen = FakeClock(), []

    async def run():
        loop = asyncio.get_running_loop()
        loop.call_later(20, seen.append, "loop")
        clock.call_later(10, lambda: seen.append("clock"))
        await asyncio.sleep(3600)
        return clock.now()

    begun = clock.now()
    assert simulated_time.run(run(), clock) == pytest.approx(begun + 3600)
    assert seen == ["clock", "loop"]


def test_a_simulation_in_which_nothing_can_happen_ends():
    with pytest.raises(RuntimeError, match="nothing will do"):
        simulated_time.run(asyncio.Event().wait(), FakeClock())


def test_a_frozen_clock_makes_up_for_its_timers():
    clock, seen = FakeClock(), []
    host = HostClock(clock, "a", skew=-3600)
    assert host.now() == clock.now() - 3600
    host.call_later(1, lambda: seen.append(1))
    host.call_later(2, lambda: seen.append(2)).cancel()
    host.freeze()
    clock.advance(60)
    assert seen == []

    host.thaw()
    assert seen == [1]


def test_tasks_belong_to_the_host_that_started_them():
    async def run():
        HOST.set("a")
        task = asyncio.get_running_loop().create_task(asyncio.sleep(1))
        assert tasks_of("a") == [task]
        await task
        assert tasks_of("a") == []

    simulated_time.run(run(), FakeClock())
