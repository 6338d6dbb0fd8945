"""What an operation must be before it can run: complete, consistent, with usable templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from podium.api.objects import (
    ApiObject,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodGroup,
    ResourceClaim,
)
from podium.bench.ops import (
    Churn,
    CreateAny,
    CreateMixedPods,
    CreateNamespaces,
    CreateNodes,
    CreatePodGroups,
    CreatePods,
    CreatePodSets,
    CreateResourceClaims,
    Op,
    StartCollectingMetrics,
    StopCollectingMetrics,
    UpdateAny,
)
from podium.bench.templates import Templates
from podium.errors import PodiumError


def contradiction(op: Op) -> str:
    """Return what is wrong with an operation in itself; "" if nothing is."""
    match op:
        case CreatePods():
            return _contradiction(op)
        case CreatePodSets(create_pods_op=inner):
            return _contradiction(inner)
        case CreateMixedPods(create_pods_ops=[]):
            return "createPodsOps must not be empty"
        case CreateMixedPods(create_pods_ops=inner_ops):
            return next(filter(None, map(_contradiction_in_mix, inner_ops)), "")
        case Churn(mode="recreate", number=0):
            return "number must be at least 1 in mode recreate"
        case Churn(template_paths=[]):
            return "templatePaths must not be empty"
        case StartCollectingMetrics(namespaces=[]):
            return "namespaces must not be empty"
    return ""


def _contradiction(op: CreatePods) -> str:
    """Return which fields of the operation exclude one another; "" if none do."""
    if op.collect_metrics and op.skip_wait_to_completion:
        return "collectMetrics and skipWaitToCompletion exclude one another"
    if op.steady_state and op.skip_wait_to_completion:
        return "steadyState and skipWaitToCompletion exclude one another"
    if op.steady_state and not (op.duration and op.count):
        return "steadyState needs a count and a duration above 0"
    if op.bind_in_turn and (op.collect_metrics or op.pin_in_turn or op.steady_state):
        others = {"collectMetrics": op.collect_metrics, "pinInTurn": op.pin_in_turn}
        other = next((name for name, is_given in others.items() if is_given), "steadyState")
        return f"{other} and bindInTurn exclude one another"
    if bool(op.persistent_volume_template_path) != bool(op.persistent_volume_claim_template_path):
        return "persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath go together"
    return ""


def _contradiction_in_mix(op: CreatePods) -> str:
    if op.collect_metrics or op.skip_wait_to_completion or op.bind_in_turn or op.steady_state:
        return "pods in turn are measured, and waited for, together or not at all"
    return _contradiction(op)


class Collecting:
    """Checks that measured times do not overlap, one operation after the other."""

    def __init__(self) -> None:
        self._is_on = False

    def problem(self, op: Op) -> str:
        match op:
            case StartCollectingMetrics() if not self._is_on:
                self._is_on = True
            case StopCollectingMetrics() if self._is_on:
                self._is_on = False
            case StopCollectingMetrics():
                return "there is no startCollectingMetrics before it"
            case _ if self._is_on and _collects(op):
                return "metrics are already being collected"
        return ""


def _collects(op: Op) -> bool:
    match op:
        case StartCollectingMetrics():
            return True
        case CreatePods() | CreateMixedPods():
            return op.collect_metrics
        case CreatePodSets(create_pods_op=inner):
            return inner.collect_metrics
    return False


def completed(op: Op, index: int, pod_template: str) -> Op:
    """Fill in the default template and namespace where not given, and multiply the count out."""
    match op:
        case CreatePods():
            return _completed(op, index, pod_template)
        case CreateMixedPods(create_pods_ops=inner_ops):
            inner_ops = [_completed(inner, index, pod_template) for inner in inner_ops]
            return msgspec.structs.replace(op, create_pods_ops=inner_ops)
        case CreatePodSets(create_pods_op=inner):
            inner = _completed(inner, index, pod_template)
            return msgspec.structs.replace(op, create_pods_op=inner)
        case Churn(namespace="") | CreateAny(namespace=""):
            return msgspec.structs.replace(op, namespace=f"namespace-{index}")
    return op


def _completed(op: CreatePods, index: int, pod_template: str) -> CreatePods:
    return msgspec.structs.replace(
        op,
        count=op.count * op.count_multiplier,
        namespace=op.namespace or f"namespace-{index}",
        pod_template_path=op.pod_template_path or pod_template,
    )


@dataclass(frozen=True, slots=True)
class _Use:
    """A template that an operation uses, and how many objects it makes."""

    path: str
    kind: type[ApiObject]
    count: int = 1
    params: Mapping[str, Any] = field(default_factory=dict)
    is_update: bool = False


def template_problem(op: Op, templates: Templates) -> str:
    """Return what is wrong with the templates of an operation; "" if nothing is."""
    found = (_problem(use, templates) for use in _uses(op) if use.path)
    return next(filter(None, found), "")


def _problem(use: _Use, templates: Templates) -> str:
    try:
        template = templates.load(use.path, use.params, use.count)
    except PodiumError as error:
        return f"template {use.path}: {error}"
    if not issubclass(template.kind, use.kind):
        wrong = f"is a {template.kind.__name__}, not a {use.kind.__name__}"
        return f"template {use.path}: {wrong}"
    if use.is_update and not template.fixed_name:
        return f"template {use.path}: needs metadata.name, which tells the object to update"
    if not use.is_update and template.makes_one_name and use.count != 1:
        reason = f"has a fixed name, so it cannot make {use.count} objects; use generateName"
        return f"template {use.path}: {reason}"
    return ""


def _uses(op: Op) -> list[_Use]:
    match op:
        case CreateNodes():
            return [_Use(op.node_template_path, Node, op.count, op.template_params)]
        case CreateNamespaces():
            return [_Use(op.namespace_template_path, Namespace)]
        case CreatePods():
            return [
                _Use(op.pod_template_path, Pod, op.count, op.template_params),
                _Use(op.persistent_volume_template_path, PersistentVolume),
                _Use(op.persistent_volume_claim_template_path, PersistentVolumeClaim),
            ]
        case CreatePodSets(create_pods_op=inner):
            return _uses(inner)
        case CreateMixedPods(create_pods_ops=inner_ops):
            return [use for inner in inner_ops for use in _uses(inner)]
        case CreateResourceClaims():
            return [_Use(op.template_path, ResourceClaim, op.count)]
        case CreateAny() | CreatePodGroups():
            kind = PodGroup if isinstance(op, CreatePodGroups) else ApiObject
            return [_Use(op.template_path, kind, op.count, op.template_params)]
        case UpdateAny():
            return [_Use(op.template_path, ApiObject, op.count, is_update=True)]
        case Churn():
            return [_Use(path, ApiObject, op.number) for path in op.template_paths]
    return []
