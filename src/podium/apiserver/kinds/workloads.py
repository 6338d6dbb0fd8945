"""What kinds with a template for pods share: defaults, checks and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.columns import Cell, column, count_column, labels_text
from podium.apiserver.kinds.pod_spec.checks import pod_spec_causes
from podium.apiserver.kinds.pod_spec.defaults import set_pod_defaults
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]


def spec_of(obj: Json) -> Json:
    """Return an object's spec, an empty one where there was none."""
    spec: Json = obj.setdefault("spec", {})
    return spec


def set_template_defaults(spec: Json) -> None:
    set_pod_defaults(spec.setdefault("template", {}).setdefault("spec", {}))
    spec["template"].setdefault("metadata", {})


def immutable(*paths: str) -> Callable[[Json, Json], Causes]:
    """Return a check of an update that lets no value at these paths change."""

    def check(old: Json, new: Json) -> Causes:
        for path in paths:
            before, after = at(old, path), at(new, path)
            if before != after:
                yield statuses.bad_value(path, after, "field is immutable")

    return check


def declared_immutable(*paths: str) -> Callable[[Json, Json], Causes]:
    """Return a check of an update whose messages leave out the value.

    Kubernetes words it so where the rule is declared at the Go type, which 1.37 does more often.
    """

    def check(old: Json, new: Json) -> Causes:
        for path in paths:
            if at(old, path) != at(new, path):
                yield statuses.bad_value(path, None, "field is immutable")

    return check


def workload_causes(obj: Json) -> Causes:
    """Check the counts, selector and template of a workload."""
    yield from count_causes(obj)
    yield from selection_causes(obj)


def count_causes(obj: Json) -> Causes:
    for name in ("replicas", "minReadySeconds", "revisionHistoryLimit"):
        yield from not_negative_causes(obj.get("spec") or {}, name)


def selection_causes(obj: Json) -> Causes:
    """Check the selector and the template of a workload."""
    spec = obj.get("spec") or {}
    if spec.get("template") is None:  # only a replication controller may have no template
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


def _selects(selector: Json, labels: Json) -> bool:
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        # A replication controller's selector is the map itself; an empty LabelSelector is refused.
        return bool(selector) and all(labels.get(k) == v for k, v in selector.items())
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items())


def not_negative_causes(spec: Json, name: str) -> Causes:
    value = spec.get(name)
    if isinstance(value, int) and value < 0:
        detail = "must be greater than or equal to 0"
        yield statuses.bad_value(f"spec.{name}", value, detail)


def amount_causes(value: Any, path: str, most: bool = True) -> Causes:
    """Check a number or percentage of pods; with ``most`` it is at most 100 %."""
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


def containers_cell(path: str, field: str) -> Cell:
    return lambda obj: ",".join(one.get(field, "") for one in at(obj, f"{path}.containers") or [])


def selector_cell(path: str) -> Cell:
    def cell(obj: Json) -> str:
        selector = at(obj, path) or {}
        return labels_text(
            selector.get("matchLabels", selector if "matchExpressions" not in selector else {})
        )

    return cell


TEMPLATE_COLUMNS = (
    column("Containers", containers_cell("spec.template.spec", "name"), wide=True),
    column("Images", containers_cell("spec.template.spec", "image"), wide=True),
    column("Selector", selector_cell("spec.selector"), wide=True),
)
REPLICA_COLUMNS = (
    count_column("Desired", "spec.replicas"),
    count_column("Current", "status.replicas"),
    count_column("Ready", "status.readyReplicas"),
)


def ready_cell(done: str, wanted: str) -> Cell:
    return lambda obj: f"{at(obj, done) or 0}/{at(obj, wanted) or 0}"
