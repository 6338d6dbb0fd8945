"""Rules that workloads and pod groups declare at their Go types, with kube-apiserver's messages.

A rule takes the value, the value before the update (``None`` for a new object) and the path. Values
that an update leaves alone are not checked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from podium.api.names import label_key_problems
from podium.apiserver import statuses
from podium.apiserver.kinds.resource.values import in_bytes
from podium.apiserver.names import label_problems, path_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]
Rule = Callable[[Any, Any, str], Causes]
MAX_PRIORITY = 1_000_000_000


def fields(rules: dict[str, Rule], new: Json, old: Json | None, path: str) -> Causes:
    """Apply the rules of a type's fields, in their order, to those that are new or changed."""
    for name, rule in rules.items():
        after, before = new.get(name), None if old is None else old.get(name)
        if old is None or after != before:
            yield from rule(after, before if old is not None else MISSING, f"{path}.{name}")


class Missing:
    """There is no old value, because the whole object is new."""


MISSING = Missing()


def is_update(before: Any) -> bool:
    return not isinstance(before, Missing)


def old_of(before: Any) -> Json | None:
    """Return the old value for rules of its fields; ``None`` if there is none to compare with."""
    return before if isinstance(before, dict) else None


def immutable(rule: Rule) -> Rule:
    """Return a rule for a field that no update may change."""

    def check(after: Any, before: Any, path: str) -> Causes:
        if is_update(before):
            yield statuses.bad_value(path, None, "field is immutable")
        else:
            yield from rule(after, before, path)

    return check


def optional(rule: Rule) -> Rule:
    """Return a rule for a field that may be missing."""

    def check(after: Any, before: Any, path: str) -> Causes:
        if after is not None and after != "":
            yield from rule(after, before, path)

    return check


def needed(rule: Rule) -> Rule:
    """Return a rule for a field that must be there, and not be zero or empty."""

    def check(after: Any, before: Any, path: str) -> Causes:
        if not after:
            yield statuses.required(path)
        else:
            yield from rule(after, before, path)

    return check


def anything(after: Any, before: Any, path: str) -> Causes:
    return iter(())


def named(problems: Callable[[str], Sequence[str]]) -> Rule:
    def check(after: Any, before: Any, path: str) -> Causes:
        for problem in problems(after):
            yield in_bytes(statuses.bad_value(path, after, problem))

    return check


long_name = named(subdomain_problems)
short_name = named(label_problems)
path_name = named(path_problems)
label_key = named(label_key_problems)


def at_least(least: int) -> Rule:
    def check(after: Any, before: Any, path: str) -> Causes:
        if after < least:
            yield statuses.bad_value(path, after, f"must be greater than or equal to {least}")

    return check


def at_most(most: int) -> Rule:
    def check(after: Any, before: Any, path: str) -> Causes:
        if after > most:
            yield statuses.bad_value(path, after, f"must be less than or equal to {most}")

    return check


def choice(*values: str) -> Rule:
    def check(after: Any, before: Any, path: str) -> Causes:
        if after not in values:
            yield statuses.unsupported(path, after, values)

    return check


def one_of(members: Sequence[str], value: Json, path: str) -> Causes:
    """Check that exactly one of these fields is set; an empty list counts as not set."""
    there = [name for name in members if value.get(name) not in (None, [])]
    listed = ", ".join(f"`{name}`" for name in members)
    if not there:
        yield statuses.bad_value(path, "", f"must specify one of: {listed}")
    elif len(there) > 1:
        shown = "{" + ", ".join(there) + "}"
        yield statuses.bad_value(path, shown, f"must specify exactly one of: {listed}")


def struct(rules: dict[str, Rule], union: Sequence[str] = ()) -> Rule:
    """Return a rule for an object with these fields, of which ``union`` exclude one another."""

    def check(after: Any, before: Any, path: str) -> Causes:
        value = after or {}
        if union:
            yield from one_of(union, value, path)
        yield from fields(rules, value, old_of(before), path)

    return check


def named_items(rule: Rule, most: int, *, fixed: bool = False) -> Rule:
    """Return a rule for a list whose items have names; an update may not add or remove any
    if it is ``fixed``."""

    def check(after: Any, before: Any, path: str) -> Causes:
        items: list[Json] = after or []
        if len(items) > most:
            yield statuses.too_many(path, len(items), most)
            return
        known = {one.get("name"): one for one in before or ()} if is_update(before) else {}
        if fixed and is_update(before):
            moved = list(_moved(items, known, path))
            yield from moved
            if moved:
                return
        yield from _repeated(items, path)
        for index, one in enumerate(items):
            was = known.get(one.get("name"), MISSING)
            if one != was:
                yield from rule(one, was, f"{path}[{index}]")

    return check


def _moved(items: list[Json], known: dict[Any, Json], path: str) -> Causes:
    names = [one.get("name") for one in items]
    for index, name in enumerate(names):
        if name not in known:
            yield statuses.not_allowed(f"{path}[{index}]", "item may not be added")
    if any(name not in names for name in known):
        yield statuses.not_allowed(path, "item may not be removed")


def _repeated(items: list[Json], path: str) -> Causes:
    seen: list[Any] = []
    for index, one in enumerate(items):
        if one.get("name") in seen:
            yield statuses.duplicate(f"{path}[{index}]", one)
        seen.append(one.get("name"))


def items(rule: Rule, most: int) -> Rule:
    """Return a rule for a list without names."""

    def check(after: Any, before: Any, path: str) -> Causes:
        listed = after or []
        if len(listed) > most:
            yield statuses.too_many(path, len(listed), most)
            return
        for index, one in enumerate(listed):
            yield from rule(one, MISSING, f"{path}[{index}]")

    return check


# --- what kinds share -----------------------------------------------------------------------------


def _gang(count: str) -> Rule:
    """Return the rule for a gang: no update turns another policy into it, or it into another."""
    inside = struct({count: needed(at_least(1))})

    def check(after: Any, before: Any, path: str) -> Causes:
        if is_update(before) and before is None:
            yield statuses.bad_value(path, None, "field cannot be set once created")
        elif is_update(before) and after is None:
            yield statuses.bad_value(path, None, "field cannot be cleared once set")
        elif after is not None:
            yield from inside(after, before, path)

    return check


def policy(count: str) -> Rule:
    """Return the rule for a scheduling policy; ``count`` is the field of a gang's minimum."""
    rules = {"basic": immutable(anything), "gang": _gang(count)}
    return struct(rules, ("basic", "gang"))


topology = struct({"topology": items(struct({"key": needed(label_key)}), 1)})
disruption = struct({}, ("single", "all"))
claim = struct(
    {
        "name": needed(short_name),
        "resourceClaimName": optional(long_name),
        "resourceClaimTemplateName": optional(long_name),
    },
    ("resourceClaimName", "resourceClaimTemplateName"),
)
workload_ref = struct({"workloadName": needed(long_name), "templateName": needed(short_name)})
preemption_policy = choice("Never", "PreemptLowerPriority")

# The fields of groups and of their templates after the policy, in the order of the Go types.
SHARED: dict[str, Rule] = {
    "schedulingConstraints": immutable(optional(topology)),
    "resourceClaims": immutable(named_items(claim, 4)),
    "disruptionMode": immutable(optional(disruption)),
    "priorityClassName": immutable(optional(long_name)),
    "priority": immutable(optional(at_most(MAX_PRIORITY))),
    "preemptionPolicy": immutable(optional(preemption_policy)),
}
