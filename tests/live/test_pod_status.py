"""What is told when the status of a pod cannot be written."""

import asyncio

import pytest

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
