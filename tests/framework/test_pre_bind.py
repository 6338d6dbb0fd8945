"""Preflight, the groups it makes, and PreBind itself."""

import asyncio

import pytest

from podium import framework as fwk
from podium.framework.binding import Target, pre_bind_groups, run_pre_bind, run_pre_flight
from podium.testing.builders import pod
from tests.support.toys import PreBind, profile

BROKEN = RuntimeError("broken")
NO = fwk.Status.unschedulable("no")
ALONE = fwk.PreFlight()
BESIDE = fwk.PreFlight(allow_parallel=True)


def target(*plugins):
    return Target(profile(*plugins), fwk.CycleState(), pod(), "a")


def toys(*flights, log=None):
    """Plugins A, B, C … with these answers to the preflight."""
    plugins = [PreBind(chr(ord("A") + place), log=log) for place in range(len(flights))]
    for plugin, flight in zip(plugins, flights, strict=True):
        plugin.flight = flight
    return plugins


@pytest.mark.parametrize(
    ("flights", "status", "parallel", "skipped"),
    [
        pytest.param([], fwk.skip(), "", "", id="no-plugins"),
        pytest.param([None], fwk.SUCCESS, "", "", id="says-nothing-so-it-works"),
        pytest.param([fwk.skip(), fwk.skip()], fwk.skip(), "", "AB", id="nothing-to-do"),
        pytest.param([fwk.skip(), ALONE, BESIDE], fwk.SUCCESS, "C", "A", id="some"),
        pytest.param([fwk.SUCCESS], fwk.SUCCESS, "", "", id="success"),
    ],
)
def test_pre_flight(flights, status, parallel, skipped):
    subject = target(*toys(*flights))

    assert run_pre_flight(subject) == (status, set(parallel))
    assert subject.state.skip_pre_bind == set(skipped)


@pytest.mark.parametrize(
    ("flight", "text"),
    [
        pytest.param(fwk.Status.error("x"), 'running PreBindPreFlight "B": x', id="error"),
        pytest.param(BROKEN, 'running PreBindPreFlight "B": broken', id="exception"),
        pytest.param(NO, 'PreBindPreFlight B returned "Unschedulable", which is unsupported. It is '
                     "supposed to return Success, Skip, or Error status", id="rejection"),
    ],
)  # fmt: skip
def test_pre_flight_faults(flight, text):
    status, _ = run_pre_flight(target(*toys(None, flight)))

    assert status == fwk.Status.error(text).by("B")


@pytest.mark.parametrize(
    ("parallel", "skipped", "groups"),
    [
        pytest.param("", "", "A B C D", id="each-alone"),
        pytest.param("ABCD", "", "ABCD", id="all-together"),
        pytest.param("AB", "", "AB C D", id="neighbours"),
        pytest.param("ABD", "", "AB C D", id="one-that-does-not-ends-a-group"),
        pytest.param("ABD", "C", "AB D", id="also-when-it-is-skipped"),
        pytest.param("ABCD", "C", "ABD", id="a-skipped-one-that-allows-it-does-not"),
        pytest.param("", "ABCD", "", id="all-skipped"),
    ],
)
def test_groups(parallel, skipped, groups):
    subject = target(*toys(None, None, None, None))
    subject.state.skip_pre_bind = frozenset(skipped)

    found = pre_bind_groups(subject, frozenset(parallel))

    assert " ".join("".join(plugin.name for plugin in group) for group in found) == groups


def run(plugins, parallel=""):
    return asyncio.run(run_pre_bind(target(*plugins), frozenset(parallel)))


def test_groups_run_one_after_the_other():
    log = []

    def slowly(name):
        async def work():
            log.append(f"{name} starts")
            await asyncio.sleep(0)
            log.append(f"{name} ends")

        return lambda pod, node_name: work()

    plugins = toys(BESIDE, BESIDE, ALONE)
    for plugin in plugins:
        plugin.answer = slowly(plugin.name)

    assert run(plugins, "AB") == fwk.SUCCESS
    assert log == ["A starts", "B starts", "A ends", "B ends", "C starts", "C ends"]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        pytest.param(NO, NO.by("B"), id="rejection-as-it-is"),
        pytest.param(fwk.Status.error("x"),
                     fwk.Status.error('running PreBind plugin "B": x').by("B"), id="error"),
        pytest.param(BROKEN, fwk.Status.error('running PreBind plugin "B": broken').by("B"),
                     id="exception"),
        pytest.param(fwk.skip(), fwk.Status.error('running PreBind plugin "B": ').by("B"),
                     id="too-late-to-skip"),
    ],
)  # fmt: skip
def test_a_failure_ends_pre_bind(answer, status):
    log = []
    plugins = toys(None, None, None, log=log)
    plugins[1].answer = answer

    assert run(plugins) == status
    assert log == ["A", "B"]


def test_a_failure_cancels_its_neighbours():
    ends = []

    async def long_work():
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError as cancelled:
            ends.append(str(cancelled))
            raise

    plugins = toys(BESIDE, BESIDE, BESIDE, ALONE)
    plugins[0].answer = plugins[2].answer = lambda pod, node_name: long_work()
    plugins[1].answer = NO

    assert run(plugins, "ABC") == NO.by("B")
    assert ends == ["some other PreBind operation failed"] * 2
    assert plugins[3].asked == []


def test_the_first_failure_is_returned():
    async def later():
        await asyncio.sleep(0)
        return fwk.Status.error("late")

    plugins = toys(BESIDE, BESIDE)
    plugins[0].answer = lambda pod, node_name: later()
    plugins[1].answer = NO

    assert run(plugins, "AB") == NO.by("B")


def test_cancelling_the_binding_cancels_the_work():
    ends = []

    async def long_work():
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ends.append("ended")

    async def scene():
        plugins = toys(ALONE)
        plugins[0].answer = lambda pod, node_name: long_work()
        task = asyncio.ensure_future(run_pre_bind(target(*plugins)))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    assert ends == ["ended"]


def test_skipped_plugins_do_not_run():
    log = []
    subject = target(*toys(fwk.skip(), None, log=log))
    _, parallel = run_pre_flight(subject)

    assert asyncio.run(run_pre_bind(subject, parallel)) == fwk.SUCCESS
    assert log == ["B"]
