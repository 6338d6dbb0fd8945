"""``spec.scheduling`` of a job, with the feature gate WorkloadWithJob."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from podium.apiserver import statuses
from podium.apiserver.kinds.groups.rules import (
    Rule,
    at_least,
    claim,
    disruption,
    fields,
    named_items,
    struct,
    topology,
)
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]
PATH: Final = "spec.scheduling"
_VARIANT: Final = (
    "the basic/gang policy variant is immutable after creation; only "
    "schedulingPolicy.gang.minCount may be updated"
)


def _if_given(rule: Rule) -> Rule:
    """Return a rule for a pointer: 0 is checked, unlike nothing."""

    def check(after: Any, before: Any, path: str) -> Causes:
        if after is not None:
            yield from rule(after, before, path)

    return check


_GANG: Final = struct({"minCount": _if_given(at_least(1))})
_RULES: Final[dict[str, Rule]] = {
    "schedulingPolicy": _if_given(struct({"gang": _if_given(_GANG)}, ("basic", "gang"))),
    "schedulingConstraints": _if_given(topology),
    "disruptionMode": _if_given(disruption),
    "resourceClaims": named_items(claim, 4),
}


def scheduling_causes(spec: Json) -> Causes:
    """Check how a job wants to be scheduled."""
    scheduling = spec.get("scheduling")
    if scheduling is None:
        return
    policy = scheduling.get("schedulingPolicy") or {}
    mode = scheduling.get("disruptionMode") or {}
    size, most = (policy.get("gang") or {}).get("minCount"), spec.get("parallelism", 1)
    if size is not None and size > most:
        detail = f"must not be greater than parallelism ({most})"
        yield statuses.bad_value(f"{PATH}.schedulingPolicy.gang.minCount", size, detail)
    if "gang" not in policy and "all" in mode and "single" not in mode:
        detail = "the disruptionMode `all` is not supported with the Basic scheduling policy"
        yield statuses.bad_value(f"{PATH}.disruptionMode", "", detail)
    yield from fields(_RULES, scheduling, None, PATH)


def scheduling_update_causes(old: Json, new: Json) -> Causes:
    """Check that an update changes nothing but the size of a gang."""
    before = (old.get("spec") or {}).get("scheduling")
    after = (new.get("spec") or {}).get("scheduling")
    if before is None or after is None:
        yield from _appearing(before, after, PATH)
        return
    was, now = before.get("schedulingPolicy"), after.get("schedulingPolicy")
    yield from _appearing(was, now, f"{PATH}.schedulingPolicy")
    if was is not None and now is not None and was.keys() != now.keys():
        yield statuses.bad_value(f"{PATH}.schedulingPolicy", None, _VARIANT)
    for name in ("schedulingConstraints", "disruptionMode", "resourceClaims"):
        if before.get(name) != after.get(name):
            yield statuses.bad_value(f"{PATH}.{name}", None, "field is immutable")


def _appearing(before: Json | None, after: Json | None, path: str) -> Causes:
    if before is None and after is not None:
        yield statuses.bad_value(path, None, "field cannot be set once created")
    elif before is not None and after is None:
        yield statuses.bad_value(path, None, "field cannot be cleared once set")
