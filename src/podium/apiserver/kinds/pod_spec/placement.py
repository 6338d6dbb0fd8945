"""Checks of where a pod may run: tolerations, topology spread, affinity and their selectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podium.api.affinity import PREFERRED, REQUIRED
from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.names import label_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_NO_OPERATOR = "not a valid selector operator"


def placement_causes(spec: Json, path: str) -> Causes:
    """Yield every validation error in the scheduling constraints of a pod spec."""
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield from _label(key, value, f"{path}.nodeSelector")
    for index, one in enumerate(spec.get("tolerations") or []):
        yield from _toleration(one, f"{path}.tolerations[{index}]")
    constraints = spec.get("topologySpreadConstraints") or []
    for index, one in enumerate(constraints):
        where = f"{path}.topologySpreadConstraints[{index}]"
        yield from _spread(one, where)
        yield from _spread_twice(one, constraints[index + 1 :], where)
    affinity = spec.get("affinity") or {}
    yield from _node_affinity(affinity.get("nodeAffinity") or {}, f"{path}.affinity.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from _pod_affinity(affinity.get(kind) or {}, f"{path}.affinity.{kind}")


def _label(key: str, value: str, path: str) -> Causes:
    for problem in label_key_problems(key):
        yield statuses.bad_value(path, key, problem)
    for problem in label_value_problems(value):
        yield statuses.bad_value(path, value, problem)


def _key(key: str, path: str) -> Causes:
    for problem in label_key_problems(key):
        yield statuses.bad_value(path, key, problem)


def _toleration(toleration: Json, path: str) -> Causes:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    if key:
        yield from _key(key, f"{path}.key")
    elif operator != "Exists":
        detail = (
            "operator must be Exists when `key` is empty, "
            'which means "match all values and all keys"'
        )
        yield statuses.bad_value(f"{path}.operator", operator, detail)
    effect = toleration.get("effect")
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield statuses.bad_value(f"{path}.effect", effect or "", detail)
    yield from _toleration_operator(operator, toleration.get("value") or "", f"{path}.operator")
    if effect and effect not in EFFECTS:
        yield statuses.unsupported(f"{path}.effect", effect, EFFECTS)


def _toleration_operator(operator: str, value: str, path: str) -> Causes:
    match operator:
        case "" | "Equal":
            for problem in label_value_problems(value):
                yield statuses.bad_value(path, value, problem)
        case "Exists":
            if value:
                detail = "value must be empty when `operator` is 'Exists'"
                yield statuses.bad_value(path, value, detail)
        case "Lt" | "Gt":  # behind a feature gate that is off
            yield statuses.unsupported(path, operator, ["Equal", "Exists", "Lt", "Gt"])
        case _:
            yield statuses.unsupported(path, operator, ["Equal", "Exists"])


def _spread(constraint: Json, path: str) -> Causes:
    if constraint.get("maxSkew", 0) <= 0:
        detail = "must be greater than zero"
        yield statuses.bad_value(f"{path}.maxSkew", constraint.get("maxSkew", 0), detail)
    if not constraint.get("topologyKey"):
        yield statuses.required(f"{path}.topologyKey", "can not be empty")
    action, actions = constraint.get("whenUnsatisfiable"), ["DoNotSchedule", "ScheduleAnyway"]
    if action not in actions:
        yield statuses.unsupported(f"{path}.whenUnsatisfiable", action, actions)
    yield from _min_domains(constraint.get("minDomains"), action, f"{path}.minDomains")
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if constraint.get(name) not in (None, "Honor", "Ignore"):
            yield statuses.unsupported(f"{path}.{name}", constraint[name], ["Honor", "Ignore"])
    yield from _match_label_keys(constraint, path)
    yield from selector_causes(constraint.get("labelSelector") or {}, f"{path}.labelSelector")


def _min_domains(domains: Any, action: Any, path: str) -> Causes:
    if domains is None:
        return
    if domains <= 0:
        yield statuses.bad_value(path, domains, "must be greater than zero")
    if action == "ScheduleAnyway":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield statuses.bad_value(path, domains, detail)


def _spread_twice(constraint: Json, others: list[Json], path: str) -> Causes:
    pair = (constraint.get("topologyKey"), constraint.get("whenUnsatisfiable"))
    if any((one.get("topologyKey"), one.get("whenUnsatisfiable")) == pair for one in others):
        where = f"{path}.{{topologyKey, whenUnsatisfiable}}"
        yield statuses.duplicate(where, f"{{{pair[0]}, {pair[1]}}}")


def _match_label_keys(holder: Json, path: str) -> Causes:
    keys = holder.get("matchLabelKeys") or []
    if keys and holder.get("labelSelector") is None:
        detail = "must not be specified when labelSelector is not set"
        yield statuses.not_allowed(f"{path}.matchLabelKeys", detail)
    for index, key in enumerate(keys):
        yield from _key(key, f"{path}.matchLabelKeys[{index}]")


def selector_causes(selector: Json, path: str) -> Causes:
    """Yield every validation error of a label selector."""
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from _label(key, value, f"{path}.matchLabels")
    for index, one in enumerate(selector.get("matchExpressions") or []):
        where = f"{path}.matchExpressions[{index}]"
        yield from _values(one, where, "")
        yield from _key(one.get("key") or "", f"{where}.key")


def _values(expression: Json, path: str, single: str) -> Causes:
    """Check the number of values; ``single`` lists operators that take exactly one."""
    operator, values = expression.get("operator"), expression.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            yield statuses.required(f"{path}.values", detail)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield statuses.not_allowed(f"{path}.values", detail)
    elif single and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield statuses.required(f"{path}.values", single)
    else:
        yield statuses.bad_value(f"{path}.operator", operator or "", _NO_OPERATOR)


def _node_affinity(affinity: Json, path: str) -> Causes:
    required = affinity.get(REQUIRED)
    if required is not None:
        yield from node_selector_causes(required, f"{path}.{REQUIRED}")
    for index, one in enumerate(affinity.get(PREFERRED) or []):
        where = f"{path}.{PREFERRED}[{index}]"
        yield from _weight(one, where)
        yield from _node_term(one.get("preference") or {}, f"{where}.preference")


def node_selector_causes(selector: Json, path: str) -> Causes:
    """Yield every validation error of a node selector."""
    where = f"{path}.nodeSelectorTerms"
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        yield statuses.required(where, "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from _node_term(term, f"{where}[{index}]")


def _node_term(term: Json, path: str) -> Causes:
    single = "must be specified single value when `operator` is 'Lt' or 'Gt'"
    for index, one in enumerate(term.get("matchExpressions") or []):
        where = f"{path}.matchExpressions[{index}]"
        yield from _values(one, where, single)
        yield from _key(one.get("key") or "", f"{where}.key")
    for index, one in enumerate(term.get("matchFields") or []):
        yield from _node_field(one, f"{path}.matchFields[{index}]")


def _node_field(expression: Json, path: str) -> Causes:
    operator, key = expression.get("operator"), expression.get("key") or ""
    if operator not in ("In", "NotIn"):
        yield statuses.bad_value(f"{path}.operator", operator or "", _NO_OPERATOR)
    elif len(expression.get("values") or []) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield statuses.required(f"{path}.values", detail)
    if key != "metadata.name":
        yield statuses.bad_value(f"{path}.key", key, "not a valid field selector key")


def _weight(weighted: Json, path: str) -> Causes:
    weight = weighted.get("weight", 0)
    if not 1 <= weight <= 100:
        yield statuses.bad_value(f"{path}.weight", weight, "must be in the range 1-100")


def _pod_affinity(affinity: Json, path: str) -> Causes:
    for index, term in enumerate(affinity.get(REQUIRED) or []):
        yield from _pod_term(term, f"{path}.{REQUIRED}[{index}]")
    for index, one in enumerate(affinity.get(PREFERRED) or []):
        where = f"{path}.{PREFERRED}[{index}]"
        yield from _weight(one, where)
        yield from _pod_term(one.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def _pod_term(term: Json, path: str) -> Causes:
    for name in ("labelSelector", "namespaceSelector"):
        yield from selector_causes(term.get(name) or {}, f"{path}.{name}")
    for name in term.get("namespaces") or []:
        for problem in label_problems(name):
            yield statuses.bad_value(f"{path}.namespace", name, problem)
    yield from _match_label_keys(term, path)
    topology = term.get("topologyKey") or ""
    if not topology:
        yield statuses.required(f"{path}.topologyKey", "can not be empty")
    yield from _key(topology, f"{path}.topologyKey")
