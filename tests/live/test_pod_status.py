"""Statuses of pods are written in order; what is logged if one cannot be written."""

import asyncio

import pytest

from podium.api.objects import Condition
from podium.errors import Forbidden, Unreachable
from podium.live.pod_status import PodStatuses
from podium.testing.builders import pod


class Refusing:
    def __init__(self, *faults):
        self.faults = list(faults)

    async def patch_pod_status(self, pod, condition, nominated_node_name):
        raise self.faults.pop(0)


@pytest.mark.parametrize(
    ("faults", "told"),
    [
        pytest.param(
            [Forbidden("no right")] * 3, ["cannot write the status of pods: forbidden"], id="403"
        ),
        pytest.param([Unreachable("cut")] * 3, ["Error updating pod"] * 3, id="cut"),
    ],
)
def test_a_missing_right_is_told_once(faults, told, caplog):
    statuses = PodStatuses(Refusing(*faults))

    async def write_all():
        for name in ("a", "b", "c"):
            await statuses.write(pod(name), None, "n1")

    asyncio.run(write_all())

    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == len(told)
    assert all(map(str.startswith, messages, told))


class Slow:
    """Answers the first write only when ``over`` is set."""

    def __init__(self):
        self.over = asyncio.Event()
        self.sent = []

    async def patch_pod_status(self, pod, condition, nominated_node_name):
        self.sent.append((pod.name, condition and condition.message, nominated_node_name))
        if len(self.sent) == 1:
            await self.over.wait()


def test_what_waits_is_written_together():
    client = Slow()
    statuses = PodStatuses(client)

    async def write_all():
        async with asyncio.TaskGroup() as group:
            for message, node in (("first", None), ("second", "n1"), ("third", None)):
                group.create_task(statuses.write(pod("a"), failed(message), node))
            group.create_task(statuses.write(pod("b"), failed("other"), None))
            await asyncio.sleep(0)
            client.over.set()

    asyncio.run(write_all())

    assert client.sent == [("a", "first", None), ("b", "other", None), ("a", "third", "n1")]


def failed(message):
    return Condition(type="PodScheduled", status="False", message=message)
