"""The metrics of informers, which kube-scheduler has since 1.37: how current each kind is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeVar

from podium.client.informer import Informer
from podium.client.known_objects import Handler
from podium.client.resources import Resource
from podium.metric_families import Labels
from podium.metrics import Metrics

T = TypeVar("T")

# Dashboards look for the name that kube-scheduler gives to its informers.
NAME = "kube-scheduler"
_DIGITS = 15  # more do not fit into the floats of a gauge


class InformerMetrics:
    """Times the handlers of informers, unless the release does not have these metrics."""

    def __init__(self, metrics: Metrics, informers: Sequence[Informer[Any]]) -> None:
        self._seconds = metrics.informer_seconds
        self._is_shown = metrics.has(self._seconds)
        metrics.informer_versions.read_series_from(
            lambda: {labels_of(each.resource): number_of(each.version) for each in informers}
        )
        metrics.informer_queued.read_series_from(
            # A change is handled as it is read.
            lambda: {labels_of(each.resource): 0 for each in informers}
        )

    def timed(
        self,
        resource: Resource[T],
        handler: Handler[T],
        timer: Callable[[], float] = perf_counter,
    ) -> Handler[T]:
        """Return a handler that does the same and is timed."""
        if not self._is_shown:
            return handler
        observe, labels = self._seconds.observe, labels_of(resource)

        def handle(old: T | None, new: T | None) -> None:
            begin = timer()
            handler(old, new)
            observe(timer() - begin, *labels)

        return handle


def labels_of(resource: Resource[Any]) -> Labels:
    """Return the labels of an informer; kube-scheduler adds an s to the name of the kind."""
    plural = f"{resource.kind.lower()}s" if resource.struct is not None else resource.plural
    return NAME, resource.group, resource.version, plural


def number_of(version: str) -> int:
    digits = version[-_DIGITS:]
    return int(digits) if digits.isdigit() else 0
