"""Child processes of a benchmark."""

import asyncio
import sys
from contextlib import suppress

import pytest

from podium.bench.live.children import start
from podium.clock import LoopClock

pytestmark = pytest.mark.slow


def test_a_wait_for_its_last_words_that_is_cancelled_does_not_keep_it_from_being_stopped(tmp_path):
    """So it is if another child fails first: a worker of theirs is cancelled."""
    closes_its_output = "import os, sys; os.close(1); sys.stdin.read()"

    async def run():
        command = [sys.executable, "-c", closes_its_output]
        child = await start("child", command, tmp_path / "log", LoopClock(), talks=True)
        reading = asyncio.ensure_future(child.read_line())
        while not child._process.stdout.at_eof():
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        await child.stop()
        return child.ended.done(), child.ended.cancelled()

    assert asyncio.run(run()) == (True, False)
