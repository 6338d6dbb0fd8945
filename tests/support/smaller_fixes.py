"""Looks for a smaller fix of the same kind, by trying all of them in a simulation.

It shares no code with the search that is tested: each try is a scheduling loop over a changed pod
or a changed cluster. What is smaller is said in docs/explain.md; ``ORDERED`` has a search for each
kind that has an order, and ``WITHOUT_ORDER`` says why the other kinds have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from podium import Simulation
from podium.api.objects import ResourceClaim
from podium.explain import Change, Fix
from tests.support import smaller_clusters, smaller_device_rules, smaller_pods
from tests.support.applied_fixes import patched
from tests.support.fix_trials import Json, Trial, manifest, places, written

Search = Callable[[Simulation, Json, Fix], Iterator[Trial]]


def smaller(simulation: Simulation, key: str, fix: Fix) -> list[str]:
    """Return smaller fixes of the same kind that place the pod too."""
    if fix.kind in WITHOUT_ORDER:
        return []
    pod = written(simulation.pods[key])
    tries = ORDERED[fix.kind](simulation, pod, fix)
    return [each.text for each in tries if places(simulation, key, each, directly=True)]


# --- combinations ---------------------------------------------------------------------------------


def _combinations(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Leave out each part, and make each part smaller while the others stay."""
    kinds = [part["kind"] for part in fix.details["parts"]]
    for number, part in enumerate(fix.details["parts"]):
        mine, others = _split(fix.changes, kinds, number)
        with_others = with_cluster_changes(simulation, others)
        changed = patched(pod, pod_steps(others))
        left_out = Trial(f"without {part['kind']}", changed)
        yield msgspec.structs.replace(left_out, simulation=with_others)
        if part["kind"] in WITHOUT_ORDER:
            continue
        alone = msgspec.structs.replace(
            fix, kind=part["kind"], details=part["details"], changes=mine
        )
        for each in ORDERED[part["kind"]](with_others, changed, alone):
            tried = each if each.pod is not None else msgspec.structs.replace(each, pod=changed)
            yield msgspec.structs.replace(
                tried, text=f"{part['kind']}: {each.text}", simulation=with_others
            )


_PATHS = {  # regular expressions
    "gate": ("/spec/schedulingGates",),
    "scheduler-name": ("/spec/schedulerName",),
    "toleration": ("/spec/tolerations",),
    "host-port": ("/ports",),
    "request": ("/resources",),
    "spread-skew": ("/maxSkew",),
    "spread-soft": ("/whenUnsatisfiable", "/minDomains", "/topologySpreadConstraints$"),
    "pod-affinity": ("/podAffinity", "/podAntiAffinity"),
    "node-affinity": ("/nodeAffinity", "/nodeSelector"),
    "priority": ("/priority", "/preemptionPolicy"),
    "preemption-policy": ("/priority", "/preemptionPolicy"),
}


def _split(
    changes: tuple[Change, ...], kinds: list[str], number: int
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Return the changes that one part makes, and those of the others."""
    kind = kinds[number]
    mine: list[Change] = []
    others: list[Change] = []
    for change in changes:
        if change.kind == "Pod" and change.action == "patch":
            steps = [_belongs(step, kind) for step in change.patch]
            for wanted, into in ((True, mine), (False, others)):
                patch = tuple(
                    s for s, own in zip(change.patch, steps, strict=True) if own is wanted
                )
                if patch:
                    into.append(msgspec.structs.replace(change, patch=patch))
        else:
            (mine if _made_by(change, kind) else others).append(change)
    return tuple(mine), tuple(others)


def _belongs(step: Json, kind: str) -> bool:
    return any(re.search(part, step["path"]) for part in _PATHS.get(kind, ()))


_MADE = {
    "create-claim": ("PersistentVolumeClaim", "PersistentVolume"),
    "create-volume": ("PersistentVolume",),
    "create-resource-claim": ("ResourceClaim",),
    "create-device-class": ("DeviceClass",),
    "device-count": ("ResourceClaim",),
    "device-toleration": ("ResourceClaim",),
    "device-selector": ("ResourceClaim",),
    "claim-gone": ("ResourceClaim",),
    "uncordon": ("Node",),
    "node-label": ("Node",),
    "node-feature": ("Node",),
    "new-node": ("Node", "CSINode", "ResourceSlice"),
    "larger-node": ("Node", "CSINode", "ResourceSlice"),
    "priority": ("PriorityClass",),
    "preemption-policy": ("PriorityClass",),
    "pod-gone": ("Pod",),
}


def _made_by(change: Change, kind: str) -> bool:
    return change.kind in _MADE.get(kind, ())


def pod_steps(changes: tuple[Change, ...]) -> tuple[Json, ...]:
    """Return the steps that change the pod itself."""
    return tuple(step for each in changes if each.kind == "Pod" for step in each.patch)


def with_cluster_changes(simulation: Simulation, changes: tuple[Change, ...]) -> Simulation:
    """Return a fork with the changes of the cluster."""
    fork = simulation.fork()
    for change in changes:
        if change.action == "create":
            fork.add(change.object)
        elif change.action == "delete" and change.kind == "ResourceClaim":
            claim = fork.core.cluster.objects(ResourceClaim).get(change.name)
            fork.remove(manifest("ResourceClaim", claim))
        elif change.action == "delete":
            fork.remove(change.name)
        elif change.kind == "Node":
            node = manifest("Node", fork.nodes[change.name])
            fork.add(patched(node, change.patch))
    return fork


ORDERED: dict[str, Search] = {
    **smaller_pods.ORDERED,
    **smaller_clusters.ORDERED,
    **smaller_device_rules.ORDERED,
    "combination": _combinations,
}
WITHOUT_ORDER = {
    "scheduler-name": "one name takes the place of another",
    "node-name": "one field is removed",
    "create-pod-group": "one object is created",
    "uncordon": "one node is uncordoned, which is one field",
    "claim-gone": "one claim is deleted, and no pod uses it",
    "preemption-policy": "one field changes, and preemption itself chooses the fewest victims",
}
