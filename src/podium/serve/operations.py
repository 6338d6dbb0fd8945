"""What `podium serve` can be asked: each function takes a simulation and returns an answer.

They run on the worker's thread, one at a time. All changes are made to a fork that is then dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from podium.api.objects import Pod
from podium.errors import PodiumError, did_you_mean
from podium.explain import Explanation, NodeExplanation, explain_node, explain_pod, in_order
from podium.explain.pod_group import strangers
from podium.serve import values
from podium.serve.sources import Source
from podium.serve.stopping import StoppableCore
from podium.simulation import DrainResult, Limit, Simulation, Victim
from podium.simulation.limits import check_number
from podium.simulation.naming import keys_of_copies, with_free_name
from podium.simulation.report import moves, nodes_of_pods, placements

MOST_PENDING: Final = 50  # pending pods that are tried on an explained node
MOST_FITTED: Final = 1_000  # pods to try where the number cannot be computed


class Unknown(PodiumError):
    """A pod or node that is not in the cluster; the message suggests a similar name."""


def existing_pod(simulation: Simulation, key: str) -> Pod:
    if key not in simulation.pods:
        raise Unknown(f"no pod {key}{_similar(key, list(simulation.pods))}")
    return simulation.pods[key]


def _similar(key: str, keys: Sequence[str]) -> str:
    """Return a hint: the same name in another namespace, or a similar one in the same."""
    namespace, _, name = key.partition("/")
    elsewhere = [each for each in keys if each.endswith(f"/{name}")]
    if elsewhere:
        return f'; did you mean "{elsewhere[0]}"?'
    here = [each.partition("/")[2] for each in keys if each.startswith(f"{namespace}/")]
    return did_you_mean(name, here)


def check_nodes(simulation: Simulation, names: Iterable[str]) -> None:
    """Raise ``Unknown`` if there is no such node."""
    for name in names:
        if name not in simulation.nodes:
            raise Unknown(f"no node {name}{did_you_mean(name, simulation.nodes)}")


def explain_existing(simulation: Simulation, key: str, nodes: Sequence[str]) -> Explanation:
    """Explain a pod of the cluster."""
    pod = existing_pod(simulation, key)
    check_nodes(simulation, nodes)
    return _explained(simulation.fork(), pod, nodes)


def _explained(trial: Simulation, pod: Pod, nodes: Sequence[str]) -> Explanation:
    pending, others = in_order(trial), strangers(trial, pod)
    return explain_pod(_core(trial), pod, nodes=nodes, pending=pending, others=others)


def _core(trial: Simulation) -> StoppableCore:
    return StoppableCore(trial.core, trial.check)


def explain_manifest(
    simulation: Simulation, manifest: Mapping[str, Any], nodes: Sequence[str]
) -> Explanation:
    """Explain a pod that is not in the cluster."""
    check_nodes(simulation, nodes)
    trial = simulation.fork()
    return _explained(trial, _added_pod(trial, manifest), nodes)


def explain_one_node(simulation: Simulation, name: str) -> NodeExplanation:
    check_nodes(simulation, [name])
    trial = simulation.fork()
    pending = list(trial.pending.values())
    found = explain_node(_core(trial), name, pending[:MOST_PENDING])
    if len(pending) <= MOST_PENDING:
        return found
    note = f"only {MOST_PENDING} of {len(pending)} pending pods were tried"
    return replace(found, notes=(*found.notes, note))


def fit(simulation: Simulation, request: values.FitRequest) -> values.FitAnswer:
    """Count how many more pods like this one fit."""
    manifest = pod_manifest(request.pod)
    found = simulation.fork().fit(manifest, most=max(request.replicas, MOST_FITTED))
    explanation = None
    if request.explain and (not found.count or request.replicas == 1):
        explanation = explain_manifest(simulation, manifest, ())
    return values.FitAnswer(
        fits=found.count >= request.replicas,
        replicas=request.replicas,
        count=found.count,
        complete=found.is_complete,
        nodes=tuple(values.NodeCount(node=each.node, pods=each.pods) for each in found.nodes),
        runs_out=found.runs_out,
        limits=_limits(found.limits),
        excluded=_limits(found.excluded),
        explanation=explanation,
    )


def simulate(simulation: Simulation, request: values.SimulateRequest) -> values.SimulateAnswer:
    """Make the changes, schedule, and report what happened to the pods."""
    trial = simulation.fork()
    _change_nodes_and_pods(trial, request)
    waited, before = frozenset(trial.pending), nodes_of_pods(trial.pods)
    drained = trial.drain(*dict.fromkeys(request.drain)) if request.drain else DrainResult(())
    _add(trial, request)
    result = trial.schedule()
    after = nodes_of_pods(trial.pods)
    left = [each for each in result.unplaced if each.pod not in waited]
    victims = (*drained.victims, *result.victims)
    return values.SimulateAnswer(
        fits=not (left or drained.blocked or drained.lost) and _all_replaced(victims),
        placed=tuple(
            values.Placement(pod=each.pod, node=each.node) for each in placements(before, after)
        ),
        unplaced=tuple(
            values.Unplaced(pod=each.pod, message=each.reason, plugins=each.plugins)
            for each in result.unplaced
        ),
        victims=tuple(
            values.Victim(pod=each.pod, node=each.node, preemptor=each.preemptor)
            for each in victims
        ),
        moves=tuple(_moves(drained, before, after)),
        blocked=tuple(
            values.Blocked(pod=each.pod, node=each.node, budgets=each.budgets)
            for each in drained.blocked
        ),
        lost=drained.lost,
    )


def _change_nodes_and_pods(trial: Simulation, request: values.SimulateRequest) -> None:
    check_nodes(trial, [each.like for each in request.add_nodes])
    check_nodes(trial, [*request.remove_nodes, *request.drain])
    if request.add_nodes:
        count = sum(each.count for each in request.add_nodes)
        check_number("the number of new nodes", count, values.MOST_NODES)
    for each in request.add_nodes:
        trial.clone_node(each.like, each.count)
    trial.remove(*dict.fromkeys(request.remove_nodes))
    for key in dict.fromkeys(request.remove_pods):
        trial.remove(existing_pod(trial, key))


def _add(trial: Simulation, request: values.SimulateRequest) -> None:
    """Add the objects; a pod whose name is taken gets another one."""
    taken = set(trial.pods)
    objects: list[Mapping[str, Any]] = []
    for given in request.add:
        if given.get("kind") == "Pod":
            pod = with_free_name(_named(given), taken, request.replicas)
            taken.update(keys_of_copies(pod, request.replicas))
            objects.append(pod)
        else:
            objects.append(given)
    trial.add(*objects, replicas=request.replicas, most=values.MOST_ADDED)


def _moves(
    drained: DrainResult, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[values.Move]:
    """Yield the pods that had to leave a drained node, and all others that are elsewhere now."""
    found = {each.pod: (each.source, after.get(each.pod, "")) for each in drained.moves}
    found |= {each.pod: (each.source, each.target) for each in moves(before, after)}
    for pod, (source, target) in found.items():
        yield values.Move(pod=pod, source=source, target=target)


def _all_replaced(victims: Iterable[Victim]) -> bool:
    return all(each.is_replaced for each in victims)


def _limits(limits: Iterable[Limit]) -> tuple[values.Limit, ...]:
    return tuple(values.Limit(reason=each.reason, nodes=each.nodes) for each in limits)


def summary(simulation: Simulation, source: Source, release: str) -> values.Summary:
    return values.Summary(
        source=source,
        release=release,
        nodes=len(simulation.nodes),
        pods=len(simulation.pods),
        pending=len(simulation.pending),
    )


def pod_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a pod to ask about; it gets a name if it has none."""
    if manifest.get("kind", "Pod") != "Pod" or manifest.get("apiVersion", "v1") != "v1":
        raise PodiumError(f"expected a v1 Pod, got kind {manifest.get('kind')!r:.60}")
    named = dict(_named(manifest)["metadata"])
    named.pop("uid", None)  # explain a new pod, not the one with this uid
    spec = manifest.get("spec")
    if isinstance(spec, dict):
        spec = {name: value for name, value in spec.items() if name != "nodeName"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": spec}


def _named(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the manifest of a pod with a name, unless one is to be generated."""
    metadata = manifest.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise PodiumError("metadata must be an object")
    metadata = {"namespace": "default", **(metadata or {})}
    if not metadata.get("generateName"):
        metadata.setdefault("name", "pod")
    return {**manifest, "metadata": metadata}


def _added_pod(trial: Simulation, manifest: Mapping[str, Any]) -> Pod:
    """Add one more pod like this; it gets another name if its own is taken."""
    (pod,) = trial.add(with_free_name(pod_manifest(manifest), trial.pods))
    assert isinstance(pod, Pod)
    return pod
