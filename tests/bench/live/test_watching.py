"""Pods as a watch shows them: times, waiting, and why pods are stuck."""

import asyncio

import msgspec
import pytest

from podium.bench.live.watching import _DECODER, PodWatch
from podium.client.endpoint import Endpoint
from podium.client.http import Connection
from podium.clock import FakeClock, give_way
from podium.errors import WorkloadFailed

TIMEOUT = 60.0


def seen(name, node="", why=None):
    conditions = []
    if why is not None:
        conditions = [{"type": "PodScheduled", "status": "False", "message": why}]
    return _DECODER.decode(
        msgspec.json.encode(
            {
                "metadata": {"name": name, "namespace": "ns", "labels": {"a": "b"}},
                "spec": {"nodeName": node} if node else {},
                "status": {"conditions": conditions} if conditions else {},
            }
        )
    )


class Desk:
    """A watch without a server: the test says what it sees."""

    def __init__(self):
        self.clock = FakeClock()
        self.watch = PodWatch(Connection(Endpoint("http://127.0.0.1:1", "nobody"), self.clock))
        self.last = {}

    def see(self, name, **fields):
        old, self.last[name] = self.last.get(name), seen(name, **fields)
        self.watch.see(old, self.last[name])

    def delete(self, name):
        self.watch.see(self.last.pop(name), None)

    def wait(self, *names, **options):
        keys = [f"ns/{name}" for name in names]
        return asyncio.ensure_future(self.watch.settled(keys, TIMEOUT, **options))


async def turn():
    for _ in range(5):
        await give_way()


def test_times_of_creation_and_binding():
    async def main():
        desk = Desk()
        begun = desk.clock.now()
        desk.see("a")
        desk.clock.advance(2)
        desk.see("a", node="n")
        desk.clock.advance(5)
        desk.see("a", node="n")  # a status of a kubelet: the pod was bound before
        return desk.watch.created["ns/a"] - begun, desk.watch.bound["ns/a"] - begun

    assert asyncio.run(main()) == (0, 2)


@pytest.mark.parametrize(
    ("happens", "attempted", "is_settled"),
    [
        pytest.param(lambda desk: desk.see("a", node="n"), False, True, id="bound"),
        pytest.param(lambda desk: desk.delete("a"), False, True, id="deleted"),
        pytest.param(lambda desk: desk.see("a", why="full"), False, False, id="tried"),
        pytest.param(lambda desk: desk.see("a", why="full"), True, True, id="tried-is-enough"),
        pytest.param(lambda desk: desk.see("b", node="n"), False, False, id="another"),
    ],
)
@pytest.mark.parametrize("order", ["before the wait", "during the wait"])
def test_what_settles_a_pod(happens, attempted, is_settled, order):
    async def main():
        desk = Desk()
        desk.see("a")
        if order == "before the wait":
            happens(desk)
        waiting = desk.wait("a", attempted=attempted)
        await turn()
        if order == "during the wait":
            happens(desk)
            await turn()
        done = waiting.done()
        waiting.cancel()
        await asyncio.wait({waiting})
        return done

    assert asyncio.run(main()) == is_settled


def test_progress_gives_more_time():
    async def main():
        desk = Desk()
        for name in "abc":
            desk.see(name)
        waiting = desk.wait("a", "b", "c")
        await turn()
        for name in "ab":
            desk.clock.advance(TIMEOUT * 0.9)
            desk.see(name, node="n")
            await turn()
        assert not waiting.done()
        desk.clock.advance(TIMEOUT * 1.1)
        with pytest.raises(WorkloadFailed) as failed:
            await waiting
        return str(failed.value)

    assert asyncio.run(main()).startswith("1 pod found no node, and for 60 s none has:")


def test_stuck_pods_are_grouped_by_reason():
    async def main():
        desk = Desk()
        for number in range(3):
            desk.see(f"full-{number}", why="0/5 nodes are available: 5 Insufficient cpu.")
        desk.see("untried")
        waiting = desk.wait("full-0", "full-1", "full-2", "untried", "never-seen")
        await turn()
        desk.clock.advance(TIMEOUT + 1)
        with pytest.raises(WorkloadFailed) as failed:
            await waiting
        return str(failed.value).splitlines()

    first, *reasons = asyncio.run(main())
    assert first == "5 pods found no node, and for 60 s none has:"
    assert reasons[0] == "  3: 0/5 nodes are available: 5 Insufficient cpu."
    assert sorted(reasons[1:]) == [
        "  1: no scheduler has tried them",
        "  1: the watch does not show them",
    ]


def test_many_reasons_are_cut():
    async def main():
        desk = Desk()
        for number in range(9):
            desk.see(f"pod-{number}", why=f"reason {number}")
        waiting = desk.wait(*desk.last)
        await turn()
        desk.clock.advance(TIMEOUT + 1)
        with pytest.raises(WorkloadFailed) as failed:
            await waiting
        return str(failed.value).splitlines()

    assert asyncio.run(main())[-1] == "  and 4 reasons more"
