"""The worker's thread: what waits for it, and what is stopped."""

import asyncio
import threading

import pytest

from podium.clock import give_way
from podium.serve.worker import Busy, Stopped, TooSlow, Worker


def until_stopped(seen):
    """Work that goes on until somebody stops it."""

    def work(check):
        try:
            while True:
                check()
        except Stopped:
            seen.append("stopped")
            raise

    return work


async def until_free(worker):
    """Wait until what was stopped has given its place back."""
    while True:
        try:
            return await worker.run(lambda check: 9)
        except Busy:
            await give_way()


def test_too_many_at_once_and_too_slow():
    async def scene():
        worker, seen = Worker(most=2, seconds=0.05), []
        first = asyncio.ensure_future(worker.run(until_stopped(seen)))
        second = asyncio.ensure_future(worker.run(lambda check: seen.append("second")))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await worker.run(lambda check: 8)
        for slow in (first, second):
            with pytest.raises(TooSlow):
                await slow
        assert await until_free(worker) == 9
        assert seen == ["stopped"]  # the second was not begun
        worker.close()

    asyncio.run(scene())


def test_work_is_stopped_when_nobody_waits_for_it():
    async def scene():
        worker, seen = Worker(most=1, seconds=60), []
        begun = threading.Event()

        def work(check):
            begun.set()
            until_stopped(seen)(check)

        asked = asyncio.ensure_future(worker.run(work))
        await asyncio.to_thread(begun.wait)
        asked.cancel()
        assert await until_free(worker) == 9
        assert seen == ["stopped"]
        worker.close()

    asyncio.run(scene())


def test_a_fault_of_a_question_reaches_its_caller():
    async def scene():
        worker = Worker(most=1, seconds=5)
        for _ in range(2):  # its place is given back
            with pytest.raises(ZeroDivisionError):
                await worker.run(lambda check: 1 // 0)
        worker.close()

    asyncio.run(scene())


def test_what_hangs_does_not_keep_the_program_from_ending():
    async def scene():
        worker, go = Worker(most=1, seconds=0.01), threading.Event()
        with pytest.raises(TooSlow):
            await worker.run(lambda check: go.wait(60))
        worker.close()
        threads = [each for each in threading.enumerate() if each.name == "podium-serve"]
        assert threads
        assert all(each.daemon for each in threads)
        go.set()

    asyncio.run(scene())
