"""The group policy: pod disruption budgets."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, column, count_column
from podium.apiserver.kinds.pod_spec.placement import selector_causes
from podium.apiserver.kinds.workloads import amount_causes, spec_of
from podium.apiserver.names import path_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]


def _start(budget: Json, now: str) -> None:
    counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    budget["status"] = dict.fromkeys(counts, 0)


def _check(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        names = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        shown = {f"{name[0].upper()}{name[1:]}": spec.get(name) for name in names}
        detail = "minAvailable and maxUnavailable cannot be both set"
        yield statuses.bad_value("spec", shown, detail)
    for name in ("minAvailable", "maxUnavailable"):
        yield from amount_causes(spec.get(name), f"spec.{name}")
    yield from selector_causes(spec.get("selector") or {}, "spec.selector")
    policy, policies = spec.get("unhealthyPodEvictionPolicy"), ["AlwaysAllow", "IfHealthyBudget"]
    if policy is not None and policy not in policies:
        yield statuses.unsupported("spec.unhealthyPodEvictionPolicy", policy, policies)


POD_DISRUPTION_BUDGET = ApiKind(
    "policy",
    "v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    short_names=("pdb",),
    subresources=("status",),
    name_problems=path_problems,
    counts_generations=True,
    start=_start,
    complete=spec_of,
    check=_check,
    metadata_checked_last=True,
    columns=(
        NAME,
        column("Min Available", lambda o: str(at(o, "spec.minAvailable") or "N/A")),
        column("Max Unavailable", lambda o: str(at(o, "spec.maxUnavailable") or "N/A")),
        count_column("Allowed Disruptions", "status.disruptionsAllowed"),
        AGE,
    ),
)

KINDS = (POD_DISRUPTION_BUDGET,)
