"""Spans of scheduling attempts, for `--tracing-config`.

A span is built when its work is over, from what the attempt has recorded anyway. ``app.tracing``
imports this module only if there is a configuration; without one an attempt costs two comparisons.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span, SpanKind, StatusCode

from podium.config.tracing import MILLION, TracingConfiguration
from podium.cycle.outcome import Outcome, Rejected
from podium.framework.calls import Call
from podium.live.attempt import STEPS, Attempt
from podium.logs import get_logger

log = get_logger(__name__)

SERVICE: Final = "kube-scheduler"
SCOPE: Final = "podium"
EXPORT_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 2.0
_NANOSECONDS: Final = 1e9


class Tracing:
    """Builds the spans of attempts and hands them to a background thread, which sends them.

    ``_open`` has the span of every sampled attempt whose binding is under way, by the UID of its
    pod: the binding becomes a child of it.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer(SCOPE)
        self._open: dict[str, Span] = {}

    def cycle(self, attempt: Attempt, outcome: Outcome, calls: Iterable[Call], now: float) -> None:
        """Record a scheduling cycle that has just ended."""
        span = self._start("Scheduling", attempt.start, _attributes(attempt))
        if not span.is_recording():
            return
        record = outcome.record
        span.set_attribute("podium.nodes.evaluated", record.nodes)
        span.set_attribute("podium.nodes.feasible", record.feasible)
        self._steps(span, attempt.start, list(calls))
        if isinstance(outcome, Rejected):
            span.set_status(StatusCode.ERROR, outcome.message)
        else:
            span.set_attribute("k8s.node.name", outcome.node_name)
            self._open[attempt.pod.uid] = span
        span.end(_nanoseconds(now))

    def binding(self, attempt: Attempt, begin: float, now: float, error: str = "") -> None:
        """Record a binding that has just ended, as a child of its scheduling cycle."""
        parent = self._open.pop(attempt.pod.uid, None)
        if parent is None:
            return
        span = self._start("Binding", begin, _attributes(attempt), parent)
        if error:
            span.set_status(StatusCode.ERROR, error)
        span.end(_nanoseconds(now))

    def close(self) -> None:
        """Send what is left, but never wait long for a collector that does not answer."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)

    def _steps(self, parent: Span, begin: float, calls: Sequence[Call]) -> None:
        """Add a child for each step with kube-scheduler's name; only their lengths are known."""
        for name, points in STEPS.items():
            made = [call for call in calls if call.point in points]
            if not made:
                continue
            end = begin + sum(call.seconds for call in made)
            span = self._start(name, begin, {}, parent)
            for call in made:
                span.set_attribute(f"podium.seconds.{call.plugin}.{call.point}", call.seconds)
            span.end(_nanoseconds(end))
            begin = end

    def _start(
        self, name: str, begin: float, attributes: dict[str, Any], parent: Span | None = None
    ) -> Span:
        context = trace.set_span_in_context(parent or trace.INVALID_SPAN)
        return self._tracer.start_span(
            name, context, SpanKind.INTERNAL, attributes, start_time=_nanoseconds(begin)
        )


def _attributes(attempt: Attempt) -> dict[str, Any]:
    pod = attempt.pod
    return {
        "k8s.pod.uid": pod.uid,
        "k8s.pod.name": pod.name,
        "k8s.namespace.name": pod.namespace,
        "podium.profile": attempt.profile,
        "podium.attempt": attempt.queued.attempts,
    }


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _NANOSECONDS)


class ReportingExporter:
    """A SpanExporter that logs once when spans cannot be sent, and once when they can be again.

    It does not inherit from that class, so that podium's types can be checked without the library.
    """

    def __init__(self, inner: Any, endpoint: str) -> None:
        self._inner = inner
        self._endpoint = endpoint
        self._is_failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._inner.export(spans)
        except Exception as fault:  # a thread of the library would print it for every batch
            return self._report(SpanExportResult.FAILURE, f"{type(fault).__name__}: {fault}")
        return self._report(result, "no collector accepts them")

    def _report(self, result: SpanExportResult, why: str) -> SpanExportResult:
        is_failing = result is not SpanExportResult.SUCCESS
        if is_failing and not self._is_failing:
            what = f"cannot send spans to {self._endpoint}: {why}; dropping spans until it works"
            log.warning(what)
        elif self._is_failing and not is_failing:
            log.info("spans are sent again", endpoint=self._endpoint)
        self._is_failing = is_failing
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return bool(self._inner.force_flush(timeout_millis))


def open_tracing(configuration: TracingConfiguration, instance: str) -> Tracing:
    """Return what records spans for this process; ``instance`` tells replicas apart."""
    # The library logs every failed try; ReportingExporter logs when that begins and ends.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    endpoint, rate = configuration.endpoint, configuration.sampling_rate_per_million
    if not rate:
        log.warning("no spans are recorded: set samplingRatePerMillion in the tracing config")
    resource = Resource.create({"service.name": SERVICE, "service.instance.id": instance})
    provider = TracerProvider(
        resource=resource,
        sampler=ParentBased(TraceIdRatioBased(rate / MILLION)),
        shutdown_on_exit=False,
    )
    sending = OTLPSpanExporter(endpoint=endpoint, insecure=True, timeout=EXPORT_SECONDS)
    reporting: Any = ReportingExporter(sending, endpoint)
    provider.add_span_processor(BatchSpanProcessor(reporting))
    return Tracing(provider)
