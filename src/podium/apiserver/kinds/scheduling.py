"""The group scheduling.k8s.io: priority classes."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.admission.priority import check_priority_class
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, UNSET, count_column, flag_column, value_column
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import immutable
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_MAX_PRIORITY = 1_000_000_000


def _set_defaults(priority_class: Json) -> None:
    set_missing(priority_class, preemptionPolicy="PreemptLowerPriority")


def _check(obj: Json) -> Causes:
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith("system-") and name not in (
        "system-node-critical",
        "system-cluster-critical",
    ):
        detail = (
            "priority class names with 'system-' prefix are reserved for system use only. "
            f"error: {name} is not a known system priority class"
        )
        yield statuses.not_allowed("metadata.name", detail)
    if value > _MAX_PRIORITY and not name.startswith("system-"):
        detail = f"maximum allowed value of a user defined priority is {_MAX_PRIORITY}"
        yield statuses.not_allowed("value", detail)
    if obj.get("preemptionPolicy") not in ("PreemptLowerPriority", "Never"):
        yield statuses.unsupported(
            "preemptionPolicy", obj.get("preemptionPolicy"), ["PreemptLowerPriority", "Never"]
        )


def _check_update(old: Json, new: Json) -> Causes:
    if old.get("value", 0) != new.get("value", 0):
        yield statuses.not_allowed("value", "may not be changed in an update.")
    yield from immutable("preemptionPolicy")(old, new)


def _deletion_refusal(name: str) -> str:
    if name.startswith("system-"):
        return "this is a system priority class and cannot be deleted"
    return ""


PRIORITY_CLASS = ApiKind(
    "scheduling.k8s.io",
    "v1",
    "PriorityClass",
    "priorityclasses",
    short_names=("pc",),
    namespaced=False,
    counts_generations=True,
    generation_stays=True,
    set_defaults=_set_defaults,
    admissions=(check_priority_class,),
    complete=lambda priority_class: priority_class.setdefault("value", 0),
    check=_check,
    check_update=_check_update,
    columns=(
        NAME,
        count_column("Value", "value"),
        flag_column("Global-Default", "globalDefault"),
        AGE,
        value_column("PreemptionPolicy", "preemptionPolicy", UNSET),
    ),
    deletion_refusal=_deletion_refusal,
)

KINDS = (PRIORITY_CLASS,)
