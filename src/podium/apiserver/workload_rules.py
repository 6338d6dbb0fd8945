"""Semantic checks of workloads: their selectors, templates, strategies and budgets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.metadata import label_causes
from podium.apiserver.placement_rules import selector_causes
from podium.apiserver.pod_rules import pod_spec_causes
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]


def workload_causes(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    for name in ("replicas", "minReadySeconds", "revisionHistoryLimit"):
        yield from _not_negative(spec, name)
    if spec.get("template") is None:  # only a replication controller can be without
        if not spec.get("selector"):
            yield statuses.required("spec.selector")
        yield statuses.required("spec.template")
        return
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or None
    selector = spec.get("selector")
    if selector is None and obj["kind"] != "DaemonSet":
        yield statuses.required("spec.selector")
    elif selector == {}:
        detail = f"empty selector is invalid for {obj['kind'].lower()}"
        yield statuses.bad_value("spec.selector", {}, detail)
    if not _selects(selector or {}, labels or {}) and (selector is None or selector):
        detail = "`selector` does not match template `labels`"
        yield statuses.bad_value("spec.template.metadata.labels", labels, detail)
    pod = template.get("spec") or {}
    yield from pod_spec_causes(pod, "spec.template.spec")
    if pod.get("restartPolicy", "Always") != "Always":
        path = "spec.template.spec.restartPolicy"
        yield statuses.unsupported(path, pod["restartPolicy"], ["Always"])


def deployment_causes(obj: Json) -> Causes:
    yield from workload_causes(obj)
    spec = obj.get("spec") or {}
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if deadline is not None and deadline <= ready:
        detail = "must be greater than minReadySeconds"
        yield statuses.bad_value("spec.progressDeadlineSeconds", deadline, detail)
    strategy, path = spec.get("strategy") or {}, "spec.strategy"
    if strategy.get("type") not in ("Recreate", "RollingUpdate"):
        shown = {"Type": strategy.get("type"), "RollingUpdate": strategy.get("rollingUpdate")}
        yield statuses.unsupported(path, shown, ["Recreate", "RollingUpdate"])
    elif strategy["type"] == "Recreate" and strategy.get("rollingUpdate"):
        detail = "may not be specified when strategy `type` is 'Recreate'"
        yield statuses.not_allowed(f"{path}.rollingUpdate", detail)
    elif strategy["type"] == "RollingUpdate":
        yield from _rolling(strategy.get("rollingUpdate") or {}, f"{path}.rollingUpdate")


def _rolling(update: Json, path: str) -> Causes:
    for name in ("maxUnavailable", "maxSurge"):
        yield from _amount(update.get(name), f"{path}.{name}", most=name == "maxUnavailable")
    if all(update.get(name) in (0, "0%") for name in ("maxUnavailable", "maxSurge")):
        detail = "may not be 0 when `maxSurge` is 0"
        yield statuses.bad_value(f"{path}.maxUnavailable", update["maxUnavailable"], detail)


def daemon_set_causes(obj: Json) -> Causes:
    yield from workload_causes(obj)
    rolling = ((obj.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    path = "spec.updateStrategy.rollingUpdate"
    unavailable, surge = (rolling.get(name, 0) for name in ("maxUnavailable", "maxSurge"))
    is_set = [value not in (0, "0%") for value in (unavailable, surge)]
    if rolling and all(is_set):
        detail = "may not be set when maxUnavailable is non-zero"
        yield statuses.bad_value(f"{path}.maxSurge", surge, detail)
    elif rolling and not any(is_set):
        yield statuses.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _selects(selector: Json, labels: Json) -> bool:
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        # A replication controller's selector is the map itself; an empty LabelSelector is refused.
        return bool(selector) and all(labels.get(k) == v for k, v in selector.items())
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items())


def job_causes(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    counts = ("parallelism", "completions", "backoffLimit")
    for name in (*counts, "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        yield from _not_negative(spec, name)
    if spec.get("completionMode") not in ("NonIndexed", "Indexed"):
        modes = ["NonIndexed", "Indexed"]
        yield statuses.unsupported("spec.completionMode", spec.get("completionMode"), modes)
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    yield from label_causes((template.get("metadata") or {}).get("labels"), "spec.template.labels")
    yield from pod_spec_causes(pod, "spec.template.spec")
    if pod.get("restartPolicy") not in ("OnFailure", "Never"):
        path = "spec.template.spec.restartPolicy"
        yield statuses.required(path, 'valid values: "OnFailure", "Never"')


def _not_negative(spec: Json, name: str) -> Causes:
    value = spec.get(name)
    if isinstance(value, int) and value < 0:
        detail = "must be greater than or equal to 0"
        yield statuses.bad_value(f"spec.{name}", value, detail)


def budget_causes(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        names = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        shown = {f"{name[0].upper()}{name[1:]}": spec.get(name) for name in names}
        detail = "minAvailable and maxUnavailable cannot be both set"
        yield statuses.bad_value("spec", shown, detail)
    for name in ("minAvailable", "maxUnavailable"):
        yield from _amount(spec.get(name), f"spec.{name}")
    yield from selector_causes(spec.get("selector") or {}, "spec.selector")
    policy, policies = spec.get("unhealthyPodEvictionPolicy"), ["AlwaysAllow", "IfHealthyBudget"]
    if policy is not None and policy not in policies:
        yield statuses.unsupported("spec.unhealthyPodEvictionPolicy", policy, policies)


def _amount(value: Any, path: str, most: bool = True) -> Causes:
    """A number of pods, or a part of them in percent; ``most``: of no more than all."""
    if isinstance(value, int) and value < 0:
        yield statuses.bad_value(path, value, "must be greater than or equal to 0")
    if not isinstance(value, str):
        return
    if not re.fullmatch("[0-9]+%", value):
        detail = (
            "a valid percent string must be a numeric string followed by an ending '%' "
            "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        )
        yield statuses.bad_value(path, value, detail)
    elif most and int(value[:-1]) > 100:
        yield statuses.bad_value(path, value, "must not be greater than 100%")


_FREE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def stateful_set_update_causes(old: Json, new: Json) -> Causes:
    before, after = (
        {name: one for name, one in obj["spec"].items() if name not in _FREE} for obj in (old, new)
    )
    if before != after:
        listed = ", ".join(f"'{name}'" for name in _FREE[:-1])
        detail = (
            f"updates to statefulset spec for fields other than {listed} and '{_FREE[-1]}' "
            "are forbidden"
        )
        yield statuses.not_allowed("spec", detail)
