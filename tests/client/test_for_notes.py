"""A second connection to the same server: what it shares with the first, and what it does not."""

import asyncio

from podium.client.http import Connection, Options
from podium.client.lanes import BUSY, NOTES_WHEN_BUSY
from podium.clock import give_way
from tests.support.client import with_world
from tests.support.faulty_proxy import never


@with_world
async def test_each_has_a_rate_of_its_own(world):
    codes = []
    options = Options(qps=0.1, burst=1, user_agent="podium/test")
    endpoint = world.connection.endpoint
    one = Connection(endpoint, world.clock, options, lambda *told: codes.append(told[:2]))
    async with one, one.for_notes() as other:
        await one.get("/version")
        await other.get("/version")  # the first has used up its burst, the second has not
        assert codes == [("GET", 200), ("GET", 200)]
        assert world.proxy.requests[-1].headers["User-Agent"] == "podium/test"

        late = asyncio.ensure_future(other.get("/version"))
        for _ in range(20):
            await give_way()
        assert not late.done()
        world.clock.advance(10)
        await late


@with_world
async def test_notes_give_way_to_decisions(world):
    world.proxy.instead("/version", *[never] * BUSY)
    decisions = [world.start(world.connection.get("/version")) for _ in range(BUSY)]
    async with world.connection.for_notes() as notes:
        await world.until(lambda: len(world.proxy.requests) == BUSY)
        sent = [world.start(notes.get("/livez")) for _ in range(NOTES_WHEN_BUSY + 3)]
        world.proxy.instead("/livez", *[never] * NOTES_WHEN_BUSY)
        await world.quiet()
        assert len(world.proxy.requests) == BUSY + NOTES_WHEN_BUSY

        decisions[0].cancel()
        await asyncio.gather(*sent[NOTES_WHEN_BUSY:])
