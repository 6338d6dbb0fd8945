import asyncio

import pytest

from podium import framework as fwk
from podium.errors import NotFound
from podium.framework.binding import Target, run_bind
from podium.plugins.default_binder import DefaultBinder
from podium.testing.builders import pod
from podium.testing.handle import FakeHandle


class Refusing:
    """A client whose API refuses every binding."""

    def __init__(self, fault):
        self.fault = fault

    async def bind(self, pod, node_name):
        raise self.fault


def bound(handle):
    plugin = DefaultBinder(fwk.NoArgs(), handle)
    handle.use(plugin)
    return asyncio.run(run_bind(Target(handle.profile, fwk.CycleState(), pod("web"), "a")))


def test_binds_exactly_this_pod():
    handle = FakeHandle()

    status = bound(handle)

    assert status.ok
    assert handle.client.writes == [("bind", "default/web", "uid-web", "a")]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(NotFound('pods "web" not found'), id="refused"),
        pytest.param(RuntimeError("broken"), id="fault"),
    ],
)
def test_what_goes_wrong_is_an_error_with_its_text(fault):
    handle = FakeHandle()
    handle.client = Refusing(fault)

    status = bound(handle)

    assert status.code is fwk.Code.ERROR
    assert status.plugin == "DefaultBinder"
    assert status.message == f'running Bind plugin "DefaultBinder": {fault}'
