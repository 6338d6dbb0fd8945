"""The work that plugins start beside the loop of a replay."""

import asyncio

import pytest

from podium.errors import ReplayError
from podium.replay.writes import Spawned


async def fail():
    await asyncio.sleep(0)
    raise LookupError("no such thing")


async def wait():
    await asyncio.get_running_loop().create_future()


def test_what_fails_ends_the_replay():
    with Spawned() as spawned:
        spawned.add("patient", wait())
        spawned.add("status of default/a", fail())
        with pytest.raises(ReplayError, match=r"status of default/a.*LookupError: no such thing"):
            spawned.run()


def test_work_goes_on_with_the_next_run():
    done = []

    async def work(gate):
        await gate.wait()
        done.append(True)

    with Spawned() as spawned:
        gate = asyncio.Event()
        spawned.add("patient", work(gate))
        spawned.run()
        assert not done
        gate.set()
        spawned.run()
        assert done
