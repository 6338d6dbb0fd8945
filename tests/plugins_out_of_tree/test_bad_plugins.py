"""Plugins that misbehave for one pod: it is told why, by name, and other pods are scheduled."""

import asyncio
import sys

import pytest

from podium import framework as fwk
from podium.testing import SimulatedCluster
from tests.support.scenarios import configured, node, play, pod, reasons

BAD = "bad"


class Bad(fwk.Plugin):
    """Misbehaves for the pod ``bad`` and lets all others pass."""

    name = "Bad"

    def behave(self, subject):
        return self.misbehave(subject) if subject.name == BAD else None


class PreEnqueue(Bad, fwk.PreEnqueuePlugin):
    def pre_enqueue(self, subject):
        return self.behave(subject)


class Filter(Bad, fwk.FilterPlugin):
    def filter(self, state, subject, node):
        return self.behave(subject)


class Score(Bad, fwk.ScorePlugin):
    def score(self, state, subject, node):
        return self.behave(subject) or 0


class Permit(Bad, fwk.PermitPlugin):
    def permit(self, state, subject, node_name):
        return self.behave(subject)


class PreBind(Bad, fwk.PreBindPlugin):
    async def pre_bind(self, state, subject, node_name):
        answer = self.behave(subject)
        return await answer if asyncio.iscoroutine(answer) else answer


def raises(self, subject):
    raise ZeroDivisionError("oops")


def answers(value):
    return lambda self, subject: value


def changes(self, subject):
    subject.spec.node_name = "mine"


def labels(self, subject):
    subject.labels["mine"] = "yes"


def asks_for_less(self, subject):
    subject.spec.containers[0].resources.requests.pop("cpu", None)


def exits(self, subject):
    sys.exit(3)


def exits_a_generator(self, subject):
    raise GeneratorExit


NO_EXIT = (
    "it called sys.exit(3); a plugin cannot end the scheduler: raise an exception or return a "
    "fwk.Status"
)
READ_ONLY = (
    "but objects are read-only for plugins: write through handle.client, or keep it in the state"
)
FILTERING = 'running "Bad" filter plugin: '
NO_CODE = "expected a Status whose code is a fwk.Code, got the code 'Unschedulable'"
SCORING = 'running Score plugins: plugin "Bad" failed with: '
OUT_OF_RANGE = (
    'applying score defaultWeights on Score plugins: plugin "Bad" returns an invalid score '
)


@pytest.mark.parametrize(
    ("base", "misbehave", "message"),
    [
        pytest.param(Filter, raises, f"{FILTERING}oops", id="raises"),
        pytest.param(Filter, exits, f"{FILTERING}{NO_EXIT}", id="exits"),
        pytest.param(Filter, exits_a_generator, f"{FILTERING}GeneratorExit", id="generator-exit"),
        pytest.param(
            Filter, answers(3), f"{FILTERING}expected a Status or None, got 3", id="wrong-type"
        ),
        pytest.param(
            Filter,
            changes,
            f"{FILTERING}it tried to change PodSpec, {READ_ONLY}",
            id="changes-the-pod",
        ),
        pytest.param(
            Filter, labels, f"{FILTERING}it tried to change a map of the pod, {READ_ONLY}",
            id="changes-labels",
        ),
        pytest.param(
            Score, asks_for_less, f"{SCORING}it tried to change a map of the pod, {READ_ONLY}",
            id="changes-requests",
        ),
        pytest.param(Score, raises, f"{SCORING}oops", id="score-raises"),
        pytest.param(
            Score, answers("much"), f"{SCORING}expected a whole number as score, got 'much'",
            id="score-is-no-number",
        ),
        pytest.param(
            Score, answers(101),
            f"{OUT_OF_RANGE}101, it should in the range of [0, 100] after normalizing",
            id="score-out-of-range",
        ),
        pytest.param(Permit, raises, 'running Permit plugin "Bad": oops', id="permit-raises"),
        pytest.param(
            Permit, answers(True),
            'running Permit plugin "Bad": expected a Status or None, got True', id="permit-type",
        ),
        pytest.param(
            Permit, answers(fwk.Status("Unschedulable")),
            f'running Permit plugin "Bad": {NO_CODE}', id="permit-code",
        ),
        pytest.param(PreBind, raises, 'running PreBind plugin "Bad": oops', id="pre-bind-raises"),
        pytest.param(
            PreBind, exits, f'running PreBind plugin "Bad": {NO_EXIT}', id="pre-bind-exits"
        ),
        pytest.param(
            PreBind, answers(fwk.Status("Unschedulable")),
            f'running PreBind plugin "Bad": {NO_CODE}', id="pre-bind-code",
        ),
    ],
)  # fmt: skip
def test_the_pod_is_told_and_others_are_scheduled(base, misbehave, message, caplog):
    kind = type("Bad", (base,), {"misbehave": misbehave, "__module__": __name__})

    async def scene(cluster):
        await cluster.create(node("a"), node("b"), pod(BAD), pod("good"))
        await cluster.settle()
        assert cluster.node_of(BAD) is None
        assert cluster.why_pending(BAD) == message
        assert ("FailedScheduling", message) in reasons(cluster, BAD)
        assert cluster.node_of("good") in ("a", "b")

    play(scene, kind)
    assert f"source='{__file__}, class Bad'" in caplog.text


def looks_at_what_was_cancelled(self, subject):
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    return future.result()


@pytest.mark.parametrize("base", [PreEnqueue, Filter, Score, Permit, PreBind])
def test_what_a_plugin_cancels_ends_nothing_else(base):
    made = {"misbehave": looks_at_what_was_cancelled, "__module__": __name__}
    made["close"] = lambda self: looks_at_what_was_cancelled(self, None)
    kind = type("Bad", (base,), made)

    async def scene(cluster):
        await cluster.create(node("a"), node("b"), pod(BAD))
        await cluster.settle()
        await cluster.create(pod("good"))
        await cluster.settle()
        assert cluster.node_of(BAD) is None
        assert cluster.node_of("good") in ("a", "b")
        assert cluster.scheduler.scheduler.services.cluster.assumed_count == 0

    play(scene, kind)


def test_labels_are_closed_already_for_pre_enqueue(caplog):
    kind = type("Bad", (PreEnqueue,), {"misbehave": labels, "__module__": __name__})

    async def scene(cluster):
        await cluster.create(node("a"), pod(BAD), pod("good"))
        await cluster.settle()
        assert cluster.node_of(BAD) is None
        assert cluster.node_of("good") == "a"

    play(scene, kind)
    assert f"point='PreEnqueue' pod='default/bad' source='{__file__}, class Bad'" in caplog.text
    assert f"it tried to change a map of the pod, {READ_ONLY}" in caplog.text


def test_one_that_never_returns_is_named_and_does_not_keep_the_scheduler(caplog):
    async def for_ever():
        await asyncio.Event().wait()

    misbehave = {"misbehave": lambda self, subject: for_ever(), "__module__": __name__}
    kind = type("Bad", (PreBind,), misbehave)

    async def scene(cluster):
        await cluster.create(node("a"), pod(BAD), pod("good"))
        await cluster.wait(29)
        assert "has not returned" not in caplog.text
        assert cluster.node_of("good") == "a"
        await cluster.wait(2)
        assert (
            "a plugin has not returned yet; only its own pod waits for it "
            "plugin='Bad' point='PreBind' pod='default/bad' seconds=30.0 "
            f"source='{__file__}, class Bad'"
        ) in caplog.text
        await cluster.create(pod("later"))
        await cluster.settle()
        assert cluster.node_of("later") == "a"

    play(scene, kind)  # it ends
    assert "cancelled 1 bindings that were still under way" in caplog.text


def test_one_that_refuses_to_be_cancelled_does_not_keep_the_scheduler(caplog):
    let_go = []

    async def refuses():
        while not let_go:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    class Refusing(fwk.PostBindPlugin):
        name = "Refusing"

        async def post_bind(self, state, subject, node_name):
            await refuses()

    async def run():
        async with SimulatedCluster(*configured(Refusing)) as cluster:
            await cluster.create(node("a"), pod("web"))
            await cluster.settle()
            assert cluster.node_of("web") == "a"
        let_go.append(True)  # only so that this test's own loop can end

    asyncio.run(run())
    assert "background tasks ignored their cancellation tasks=['binding']" in caplog.text
