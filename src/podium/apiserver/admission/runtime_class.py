"""RuntimeClass: the class of a pod sets its overhead, and restricts the nodes it can run on."""

from __future__ import annotations

from podium.apiserver import statuses
from podium.apiserver.admission import Reader
from podium.apiserver.statuses import Json

CLASSES = "runtimeclasses.node.k8s.io"


def apply_runtime_class(pod: Json, old: Json | None, reader: Reader) -> None:
    """Set the overhead, selector and tolerations of the class on a new pod."""
    spec = pod.setdefault("spec", {})
    name = spec.get("runtimeClassName")
    if old is not None:
        return
    if not name:
        if spec.get("overhead"):
            why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
            raise _rejected(pod, why)
        return
    item = reader.find(CLASSES, ("", name))
    if item is None:
        raise _rejected(pod, f'RuntimeClass "{name}" not found')
    found = item.decode()
    _set_overhead(pod, (found.get("overhead") or {}).get("podFixed"))
    _restrict(pod, found.get("scheduling") or {})


def _set_overhead(pod: Json, overhead: Json | None) -> None:
    given = pod["spec"].get("overhead")
    if given and given != overhead:
        why = "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        if not overhead:
            why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise _rejected(pod, why)
    if overhead:
        pod["spec"]["overhead"] = dict(overhead)


def _restrict(pod: Json, scheduling: Json) -> None:
    spec = pod["spec"]
    selector = scheduling.get("nodeSelector") or {}
    given = spec.get("nodeSelector") or {}
    for key in selector.keys() & given.keys():
        if selector[key] != given[key]:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {selector[key]}; "
                f"pod.spec.nodeSelector[{key}] = {given[key]}"
            )
            raise _rejected(pod, why)
    if selector:
        spec["nodeSelector"] = {**given, **selector}
    tolerations = spec.get("tolerations") or []
    added = [one for one in scheduling.get("tolerations") or [] if one not in tolerations]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _rejected(pod: Json, why: str) -> statuses.Refusal:
    name = pod["metadata"].get("name") or pod["metadata"].get("generateName", "")
    return statuses.forbidden("pods", name, f"pod rejected: {why}")
