"""Makes the pods of an operation as manifests for the API."""

from __future__ import annotations

from collections.abc import Sequence

from podium.api.objects import ApiObject
from podium.bench.live.manifests import Manifest, Marking
from podium.bench.objects import PodContext, PodMaker
from podium.bench.ops import CreatePods
from podium.bench.templates import Templates


class LivePodMaker:
    """Makes the pods of one operation, and keeps the objects that belong to them."""

    def __init__(
        self,
        op: CreatePods,
        templates: Templates,
        marking: Marking,
        node_names: Sequence[str],
        first_claim: int,
    ) -> None:
        self._marking = marking
        self._others: list[Manifest] = []
        pod_context = PodContext(node_names, first_claim)
        self._pods = PodMaker(op, templates, self._put, pod_context)

    def _put(self, kind: type[ApiObject], data: bytes) -> None:
        self._others.append(self._marking.of_json(kind, data))

    def pod(self, serial: int, index: int, node_name: str) -> Manifest:
        return self._marking.pod(self._pods.json(serial, index), node_name)

    def take_others(self) -> list[Manifest]:
        """Return the objects that the pods made since the last call need."""
        others, self._others = self._others, []
        return others
