"""A process ends, whatever its plugins think of it."""

import asyncio

import pytest

from podium.clock import give_way
from podium.live import event_loop


@pytest.mark.parametrize("fast", [True, False])
def test_the_answer_and_the_fault_come_out(fast):
    async def work():
        return 7

    async def fault():
        raise ZeroDivisionError

    assert event_loop.run(work(), fast=fast) == 7
    with pytest.raises(ZeroDivisionError):
        event_loop.run(fault(), fast=fast)


def test_what_is_left_is_cancelled():
    ended = []

    async def stays():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def work():
        task = asyncio.ensure_future(stays())
        await give_way()
        return task

    assert event_loop.run(work()).cancelled()
    assert ended == [True]


def test_what_refuses_to_end_is_left_behind(caplog):
    stubborn = True

    async def refuses():
        while stubborn:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async def work():
        task = asyncio.get_running_loop().create_task(refuses(), name="the stubborn one")
        await give_way()
        return task

    task = event_loop.run(work(), fast=False, patience=0.01)

    assert not task.done()
    assert "the stubborn one" in caplog.text
    # Only for this test's sake: let it go.
    stubborn = False
    loop = task.get_loop()
    task.cancel()
    loop.run_until_complete(task)
    loop.close()
