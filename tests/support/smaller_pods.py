"""Smaller changes of a pod: every one that is tried must leave the pod pending."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import product
from typing import Any

from podium import Simulation
from podium.api import quantity
from podium.explain import Fix
from tests.support.applied_fixes import patched
from tests.support.fix_trials import Json, Trial, subsets

HARD = ("NoSchedule", "NoExecute")
MOST_VECTORS = 60


def after(pod: Json, fix: Fix) -> Json:
    """Return the pod as the fix writes it."""
    steps = (step for change in fix.changes if change.kind == "Pod" for step in change.patch)
    return patched(pod, tuple(steps))


def _gates(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    gates = pod["spec"]["schedulingGates"]
    for removed in subsets(range(len(gates)), len(gates)):
        tried = copy.deepcopy(pod)
        left = [each for number, each in enumerate(gates) if number not in removed]
        tried["spec"]["schedulingGates"] = left
        yield Trial(f"without gates {removed}", tried)


def _tolerations(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    taints = {
        (taint.key, taint.value, taint.effect)
        for node in simulation.nodes.values()
        for taint in node.spec.taints
        if taint.effect in HARD
    }
    taints.add(("node.kubernetes.io/unschedulable", "", "NoSchedule"))
    for chosen in subsets(sorted(taints), len(fix.details["taints"])):
        tried = copy.deepcopy(pod)
        tried["spec"].setdefault("tolerations", []).extend(
            {"key": key, "operator": "Equal", "value": value, "effect": effect}
            for key, value, effect in chosen
        )
        yield Trial(str(chosen), tried)


def _requests(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """One unit more in each container, and each resource as it was."""
    smaller = after(pod, fix)
    for name in fix.details["requests"]:
        restored = copy.deepcopy(smaller)
        for part, index, before in _changed(pod, smaller, name):
            tried = copy.deepcopy(smaller)
            step = quantity.MILLI if name == "cpu" else quantity.NANO
            now = _requests_of(smaller, part, index).get(name, 0)
            more = quantity.format(quantity.parse(now) + step)
            _set(tried, (part, index), name, more)
            _set(restored, (part, index), name, before)
            yield Trial(f"{name} {more} in {part}[{index}]", tried)
        yield Trial(f"{name} as it was", restored)


def _changed(pod: Json, smaller: Json, name: str) -> Iterator[tuple[str, int, Any]]:
    for part in ("containers", "initContainers", "resources"):
        parts = [pod["spec"]] if part == "resources" else pod["spec"].get(part, ())
        for index in range(len(parts)):
            before = _requests_of(pod, part, index).get(name)
            if before is not None and before != _requests_of(smaller, part, index).get(name):
                yield part, index, before


def _resources(pod: Json, part: str, index: int) -> Json:
    inside = pod["spec"] if part == "resources" else pod["spec"][part][index]
    found: Json = inside.setdefault("resources", {})
    return found


def _requests_of(pod: Json, part: str, index: int) -> Json:
    found: Json = _resources(pod, part, index).setdefault("requests", {})
    return found


def _set(pod: Json, where: tuple[str, int], name: str, amount: Any) -> None:
    resources = _resources(pod, *where)
    resources["requests"][name] = amount
    if name in resources.get("limits", {}) and name not in ("cpu", "memory", "ephemeral-storage"):
        resources["limits"][name] = amount


def _ports(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    ports = _host_ports(pod)
    for chosen in subsets(ports, len(ports) - len(_host_ports(after(pod, fix)))):
        tried = copy.deepcopy(pod)
        for part, number, index in chosen:
            port = tried["spec"][part][number]["ports"][index]
            del port["hostPort"]
            port.pop("hostIP", None)
        yield Trial(str(chosen), tried)


def _host_ports(pod: Json) -> list[tuple[str, int, int]]:
    return [
        (part, number, index)
        for part in ("containers", "initContainers")
        for number, container in enumerate(pod["spec"].get(part, ()))
        for index, port in enumerate(container.get("ports", ()))
        if port.get("hostPort")
    ]


def _skews(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """All ways to raise the same constraints by less, in all, as far as there are not too many."""
    before = pod["spec"]["topologySpreadConstraints"]
    raised = after(pod, fix)["spec"]["topologySpreadConstraints"]
    sums = sum(new["maxSkew"] - old["maxSkew"] for new, old in zip(raised, before, strict=True))
    hard = [n for n, each in enumerate(before) if each["whenUnsatisfiable"] == "DoNotSchedule"]
    vectors = (v for v in product(range(sums), repeat=len(hard)) if sum(v) < sums)
    for number, vector in enumerate(vectors):
        if number == MOST_VECTORS:
            return
        tried = copy.deepcopy(pod)
        for index, more in zip(hard, vector, strict=True):
            tried["spec"]["topologySpreadConstraints"][index]["maxSkew"] += more
        yield Trial(f"maxSkew raised by {vector}", tried)


def _softened(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    count = len(pod["spec"]["topologySpreadConstraints"])
    for chosen in subsets(range(count), len(fix.details["topologyKeys"])):
        tried = copy.deepcopy(pod)
        constraints = tried["spec"]["topologySpreadConstraints"]
        for index in chosen:
            constraints[index]["whenUnsatisfiable"] = "ScheduleAnyway"
            constraints[index].pop("minDomains", None)
        rules = [(each["topologyKey"], each["whenUnsatisfiable"]) for each in constraints]
        for index in sorted(chosen, reverse=True):
            if rules.count(rules[index]) > 1:  # a pod may have one soft constraint of a key
                del constraints[index]
        yield Trial(str(chosen), tried)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _pod_terms(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    terms = [
        (part, index)
        for part in ("podAffinity", "podAntiAffinity")
        for index in range(len(pod["spec"]["affinity"].get(part, {}).get(_REQUIRED, ())))
    ]
    for chosen in subsets(terms, len(fix.details["terms"])):
        tried = copy.deepcopy(pod)
        for part, index in sorted(chosen, reverse=True):
            del tried["spec"]["affinity"][part][_REQUIRED][index]
        yield Trial(str(chosen), tried)


def _node_requirements(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """All smaller sets of requirements. A term that has lost all of them goes as well."""
    own = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(_REQUIRED, {})
    asked: list[Any] = [("selector", key) for key in pod["spec"].get("nodeSelector", ())]
    for number, term in enumerate(own.get("nodeSelectorTerms", ())):
        for part in ("matchExpressions", "matchFields"):
            asked += [(number, part, index) for index in range(len(term.get(part, ())))]
    for chosen in subsets(asked, len(fix.details["requirements"])):
        yield Trial(str(chosen), _without(pod, chosen))


def _without(pod: Json, chosen: tuple[Any, ...]) -> Json:
    tried = copy.deepcopy(pod)
    for place in sorted(chosen, key=str, reverse=True):
        if place[0] == "selector":
            del tried["spec"]["nodeSelector"][place[1]]
        else:
            number, part, index = place
            terms = tried["spec"]["affinity"]["nodeAffinity"][_REQUIRED]["nodeSelectorTerms"]
            del terms[number][part][index]
    own = tried["spec"].get("affinity", {}).get("nodeAffinity", {})
    if chosen and _REQUIRED in own:
        terms = own[_REQUIRED]["nodeSelectorTerms"]
        if not any(term.get("matchExpressions") or term.get("matchFields") for term in terms):
            del own[_REQUIRED]
    return tried


def _priorities(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    wanted = fix.details["priority"]
    present = {each.priority + more for each in simulation.pods.values() for more in (0, 1)}
    for lower in sorted({*present, wanted - 1}):
        if pod["spec"].get("priority", 0) < lower < wanted:
            tried = copy.deepcopy(pod)
            tried["spec"].update(priority=lower, priorityClassName=f"try-{lower}")
            tried["spec"].pop("preemptionPolicy", None)
            made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                    "metadata": {"name": f"try-{lower}"}, "value": lower}  # fmt: skip
            yield Trial(f"priority {lower}", tried, (made,))


ORDERED = {
    "gate": _gates,
    "toleration": _tolerations,
    "request": _requests,
    "host-port": _ports,
    "spread-skew": _skews,
    "spread-soft": _softened,
    "pod-affinity": _pod_terms,
    "node-affinity": _node_requirements,
    "priority": _priorities,
}
