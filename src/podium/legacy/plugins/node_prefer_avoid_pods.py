"""NodePreferAvoidPods: keep the pods of a controller off a node whose annotation names it.

Only configurations of v1beta1 and older, and policies, may name it; taints replace it.

Score  0 on a node whose annotation names the ReplicationController or ReplicaSet of the pod, else
       100. By default its weight was 10000, which no other plugin outweighs.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from podium import framework as fwk
from podium.api.objects import Pod

ANNOTATION: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
KINDS: Final = ("ReplicationController", "ReplicaSet")
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.NODE)

Controller = tuple[str, str]
"""A controller's kind and uid."""


class NodePreferAvoidPods(fwk.ScorePlugin):
    name = "NodePreferAvoidPods"

    def sign(self, pod: Pod) -> Hashable:
        return controller_of(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        return points(controller_of(pod), node.node.annotations.get(ANNOTATION))

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        controller = controller_of(pod)
        texts = nodes.annotations[ANNOTATION]
        judged = [points(controller, text) for text in (*texts.values, None)]
        return np.array(judged, np.int64)[texts.numbers]  # -1, for no annotation, is the last


def controller_of(pod: Pod) -> Controller | None:
    """Return the pod's controller if its kind is one that a node's annotation may name."""
    owner = pod.controller
    return (owner.kind, owner.uid) if owner is not None and owner.kind in KINDS else None


def points(controller: Controller | None, annotation: str | None) -> int:
    if controller is None or not annotation:
        return 100
    return 0 if controller in avoided(annotation) else 100


class _Controller(msgspec.Struct):
    kind: str = ""
    uid: str = ""


class _Signature(msgspec.Struct, rename="camel"):
    pod_controller: _Controller | None = None


class _Entry(msgspec.Struct, rename="camel"):
    pod_signature: _Signature | None = None


class _Annotation(msgspec.Struct, rename="camel"):
    prefer_avoid_pods: list[_Entry] | None = None


@lru_cache(maxsize=4096)
def avoided(annotation: str) -> frozenset[Controller]:
    """Return the controllers that the annotation names; none if it cannot be parsed."""
    try:
        written = msgspec.json.decode(annotation, type=_Annotation)
    except msgspec.MsgspecError:
        return frozenset()
    signatures = [entry.pod_signature for entry in written.prefer_avoid_pods or ()]
    controllers = [signature.pod_controller for signature in signatures if signature is not None]
    return frozenset((each.kind, each.uid) for each in controllers if each is not None)
