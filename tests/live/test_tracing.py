"""Spans of attempts: their names and data, and a collector that is not there."""

import dataclasses
import time

import pytest

from podium import framework as fwk
from podium.config.tracing import GROUP, KIND, MILLION, TracingConfiguration
from podium.cycle.outcome import failed
from podium.cycle.record import Record
from podium.framework.queued_pod import QueuedPod
from podium.live.attempt import Attempt
from podium.testing.builders import pod
from tests.live.test_scheduler import Filter
from tests.live.test_trace import CALLS
from tests.support import toys
from tests.support.live import Desk, play

pytest.importorskip("opentelemetry.sdk", reason="the extra `tracing` is not installed")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from podium.live.tracing import CLOSE_SECONDS, ReportingExporter, Tracing, open_tracing


class Traced(Desk):
    """A scheduler whose spans are kept in ``spans``."""

    def _scheduler(self):
        self.spans = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.spans))
        return dataclasses.replace(super()._scheduler(), tracer=Tracing(provider))

    @property
    def spans_by_name(self):
        return {span.name: span for span in self.spans.get_finished_spans()}


def test_a_bound_pod():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web", uid="uid-of-web"))
        await desk.settle()

        found = desk.spans_by_name
        scheduling, binding = found["Scheduling"], found["Binding"]
        assert scheduling.attributes["k8s.pod.uid"] == "uid-of-web"
        assert scheduling.attributes["k8s.node.name"] == "n1"
        assert scheduling.attributes["podium.nodes.feasible"] == 1
        assert scheduling.parent is None
        assert scheduling.status.is_ok
        assert binding.parent.span_id == scheduling.context.span_id
        assert binding.attributes["k8s.pod.uid"] == "uid-of-web"

    play(scene, toys.Bind("Bind"), kind=Traced)


def test_a_pod_that_does_not_fit():
    full = Filter("Full", lambda subject, _: fwk.Status.unschedulable("no room"))

    async def scene(desk):
        desk.see_nodes("n1", "n2")
        desk.see(pod("web"))
        await desk.settle()

        found = desk.spans_by_name
        assert found["Scheduling"].status.description == "0/2 nodes are available: 2 no room."
        assert "Binding" not in found

    play(scene, full, toys.Bind("Bind"), kind=Traced)


def test_the_steps_of_a_cycle():
    spans = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    attempt = Attempt(QueuedPod.of(pod("web")), "podium", 1000.0)
    outcome = failed(fwk.Status.error("no"), Record("default/web", "u", 1, "podium"))

    Tracing(provider).cycle(attempt, outcome, CALLS, 1001.0)

    filtering, scoring, scheduling = spans.get_finished_spans()
    assert (filtering.name, scoring.name) == ("Computing predicates", "Prioritizing")
    assert filtering.attributes["podium.seconds.Slow.Filter"] == 0.2
    assert filtering.end_time - filtering.start_time == pytest.approx(0.22e9, abs=1000)
    assert {each.parent.span_id for each in (filtering, scoring)} == {scheduling.context.span_id}
    assert scheduling.end_time - scheduling.start_time == 1_000_000_000


def test_a_binding_that_fails():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()

        assert "cable" in desk.spans_by_name["Binding"].status.description

    play(scene, toys.Bind("Bind", fwk.Status.error("cable")), kind=Traced)


def configuration(rate, endpoint="127.0.0.1:9"):
    return TracingConfiguration(
        api_version=f"{GROUP}/v1", kind=KIND, endpoint=endpoint, sampling_rate_per_million=rate
    )


class TracedToNobody(Desk):
    def _scheduler(self):
        self.tracing = open_tracing(configuration(MILLION), "here")
        return dataclasses.replace(super()._scheduler(), tracer=self.tracing)


@pytest.mark.slow
def test_a_collector_that_is_not_there_delays_nothing():
    async def scene(desk):
        desk.see_nodes("n1")
        begin = time.perf_counter()
        for number in range(200):
            desk.see(pod(f"web-{number}"))
        await desk.settle()
        scheduled = time.perf_counter()
        desk.tracing.close()

        assert scheduled - begin < 5
        assert time.perf_counter() - scheduled < CLOSE_SECONDS + 1

    play(scene, toys.Bind("Bind"), kind=TracedToNobody)


def test_without_a_rate_nothing_is_sampled_and_a_line_says_so(caplog):
    tracing = open_tracing(configuration(0), "here")
    tracing.close()

    assert "set samplingRatePerMillion" in caplog.text


class Refusing:
    """A collector that fails as often as told, then works."""

    def __init__(self, *results):
        self.results = list(results)

    def export(self, spans):
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def test_trouble_with_the_collector_is_logged_once(caplog):
    caplog.set_level("INFO", "podium")
    failed, worked = SpanExportResult.FAILURE, SpanExportResult.SUCCESS
    exporter = ReportingExporter(Refusing(worked, failed, OSError("no"), failed, worked), "c:4317")

    for _ in range(5):
        exporter.export([])

    assert [each.getMessage().partition(":")[0] for each in caplog.records] == [
        "cannot send spans to c",
        "spans are sent again endpoint='c",
    ]
