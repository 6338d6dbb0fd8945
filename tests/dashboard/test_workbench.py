"""The process that answers: it ends with a question that takes too long, and comes back."""

import asyncio
import json
import os
import select
import signal
from contextlib import contextmanager

import pytest

from podium.dashboard.workbench import MOST_WAITING, Overloaded, Workbench
from podium.live.asking import Asking
from tests.support import dumps
from tests.support.dashboard import dashboard, pending

pytestmark = pytest.mark.slow


def scene(test):
    def run():
        async def play():
            async with dashboard() as shown:
                await shown.create(pending("huge"))
                await shown.until(lambda seen: seen["lanes"]["unschedulable"] == 1)
                asking = Asking(asyncio.get_running_loop())
                workbench = Workbench(shown.scheduler, asking, patience=20)
                try:
                    await test(shown, workbench)
                finally:
                    workbench.close()

        asyncio.run(play())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@scene
async def test_it_follows_the_cluster_comes_back_and_ends(shown, workbench):
    first = json.loads((await workbench.ask("pod", "default/huge", ())).body)
    assert first["state"] == "pending"

    await shown.create(pending("later"))
    await shown.until(lambda seen: seen["lanes"]["unschedulable"] == 2)
    later = await workbench.ask("pod", "default/later", ())
    assert (later.status, json.loads(later.body)["state"]) == (200, "pending")

    with watched(workbench) as has_ended:
        os.kill(workbench.pid, signal.SIGKILL)
        await has_ended()
    with pytest.raises(Overloaded):
        await workbench.ask("pod", "default/huge", ())
    assert (await workbench.ask("pod", "default/huge", ())).status == 200

    with watched(workbench) as has_ended:
        workbench.close()
        await has_ended()


@contextmanager
def watched(workbench):
    """Yield how to wait for the end of the process."""
    handle = os.pidfd_open(workbench.pid)

    async def has_ended():
        assert (await asyncio.to_thread(select.select, [handle], [], [], 20))[0]

    try:
        yield has_ended
    finally:
        os.close(handle)


@scene
async def test_questions_wait_in_line_and_not_for_ever(shown, workbench):
    asked = [workbench.ask("pod", "default/huge", ()) for _ in range(MOST_WAITING + 2)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    refused = [each for each in found if isinstance(each, Overloaded)]
    assert len(refused) == 2
    assert {each.status for each in found if each not in refused} == {200}

    workbench._patience = 1
    many = json.dumps({"add": [dumps.manifest("many", "1m")], "replicas": 10_000}).encode()
    with pytest.raises(Overloaded, match="within 1 s"):
        await workbench.ask("what-if", many)
