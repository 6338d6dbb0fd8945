"""Explains one pod: start reading at ``explain_pod``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from msgspec.structs import replace

from podium.api.objects import Pod
from podium.cycle.offline import OfflineCore
from podium.cycle.ranking import Ranking
from podium.errors import SimulationError, did_you_mean
from podium.explain import sentences
from podium.explain.amounts import listed, plural
from podium.explain.case import Case
from podium.explain.edits import RemovePod, applied
from podium.explain.fixes import find_fixes, find_group_fixes
from podium.explain.fixes.candidate import patch_pod
from podium.explain.funnel import funnel
from podium.explain.group_trials import group_of
from podium.explain.near_misses import near_misses
from podium.explain.pod_group import (
    Held,
    disagreement,
    held_back,
    preemption_of_group,
    strangers,
    too_few_fit,
)
from podium.explain.preemption import Preempted, describe, preempt
from podium.explain.reasons import NO_SUCH_SCHEDULER
from podium.explain.scores import score_table
from podium.explain.values import (
    Explanation,
    Fix,
    Preemption,
    Reason,
    ScoreTable,
    State,
    WaitsFor,
)
from podium.explain.verdict import node_verdict
from podium.explain.wakes import wakes
from podium.simulation.naming import with_free_name
from podium.simulation.simulation import Manifest, Simulation

_UID = "explained"


def explain(
    simulation: Simulation, pod: Manifest | str, *, nodes: Sequence[str] = (), fixes: bool = True
) -> Explanation:
    """Explain a pod of a simulation by its key, or one that is not in it yet.

    Raises ``SimulationError`` with a similar name if there is no such pod.
    """
    trial = simulation.fork()
    if isinstance(pod, str):
        key = pod if pod in trial.pods or "/" in pod else f"default/{pod}"
        subject = trial.pods[key]
    else:
        if isinstance(pod, Mapping) and isinstance(pod.get("metadata"), Mapping):
            pod = with_free_name(pod, trial.pods)
        (added,) = trial.add(pod)
        if not isinstance(added, Pod):
            raise SimulationError(f"explain takes a pod, not a {type(added).__name__}")
        subject = added
    pending = in_order(trial)
    others = strangers(trial, subject)
    return explain_pod(
        trial.core, subject, nodes=nodes, fixes=fixes, pending=pending, others=others
    )


def in_order(simulation: Simulation) -> list[Pod]:
    """Return the pending pods of a simulation in the order in which they were queued."""
    waiting = sorted(simulation.queue.pods(), key=lambda each: each.timestamp)
    return [each.pod for each in waiting]


def explain_pod(  # noqa: PLR0913  # all that an explanation can be given, each by its name
    core: OfflineCore,
    pod: Pod,
    *,
    nodes: Sequence[str] = (),
    fixes: bool = True,
    pending: Iterable[Pod] = (),
    others: Sequence[Pod] = (),
) -> Explanation:
    """Explain why a pod is pending, or why it is or would be on its node.

    ``nodes`` are names of nodes; the answer also says why the pod is not on them. Without ``fixes``
    no fixes are searched for. ``pending`` are all pending pods in the order in which they came: a
    fix must still help after the pods before this one were tried, and pods of a group wait for one
    another. ``others`` are pods of its group that name another scheduler.

    The core is changed during the call and restored at its end, so it must not be the core of a
    running scheduler.
    """
    if not pod.uid:
        pod = replace(pod, metadata=replace(pod.metadata, uid=_UID))
    if pod.has_ended:
        text = f"{pod.key} has ended ({pod.status.phase}), so no scheduler looks at it."
        return Explanation(pod=pod.key, state="ended", sentence=text, node=pod.node_name)
    if pod.is_terminating and not pod.node_name:
        text = f"{pod.key} is being deleted, so no scheduler looks at it."
        return Explanation(pod=pod.key, state="ended", sentence=text)
    if pod.node_name and core.cluster.table.live_row(pod.node_name) is None:
        return _on_missing_node(core, pod, fixes)
    with ExitStack() as stack:
        if pod.uid in core.cluster.pods:
            stack.enter_context(applied(core.cluster, [RemovePod(pod.uid)]))
        unplaced = replace(pod, spec=replace(pod.spec, node_name=""))
        case = Case(core, unplaced, *_competitors(pod, pending))
        ranking = _ranking(case)
        verdicts = tuple(node_verdict(case, name, ranking) for name in nodes)
        if pod.node_name:
            return replace(_placed(case, pod.node_name, ranking), verdicts=verdicts)
        return replace(_unplaced(case, ranking, fixes, others), verdicts=verdicts)


def _competitors(pod: Pod, pending: Iterable[Pod]) -> tuple[list[Pod], list[Pod]]:
    """Return the pods that the queue puts before this one, and those behind it."""
    ahead: list[Pod] = []
    behind: list[Pod] = []
    has_come = False
    for each in pending:
        if each.key == pod.key:
            has_come = True
        else:
            (behind if has_come and each.priority <= pod.priority else ahead).append(each)
    return sorted(ahead, key=lambda each: -each.priority), behind


def _ranking(case: Case) -> Ranking | None:
    return case.attempts.ranking(case.attempt) if case.attempt.node else None


# --- pods with a node -----------------------------------------------------------------------------


def _placed(case: Case, node: str, ranking: Ranking | None) -> Explanation:
    attempt, notes = case.attempt, []
    table = None if ranking is None else score_table(ranking, attempt.node)
    if attempt.node == node and table is not None:
        why = table.text
    elif attempt.node:
        why = f"now {attempt.node} would be chosen, so the cluster has changed since"
        if ranking is not None and node in ranking.names:
            table = score_table(ranking, node)
    elif attempt.profile is None:
        why = f"it names the scheduler {case.pod.scheduler_name}, which this one is not"
        notes = [_profiles(case)]
    else:
        why = "now it would fit on no node, so the cluster or the pod has changed since"
        notes = [sentences.pending(case, sentences.causes(case))]
    return _explanation(
        case,
        state="placed",
        sentence=f"{case.pod.key} is on {node}: {why}.",
        node=node,
        scores=table,
        notes=tuple(notes),
    )


def _on_missing_node(core: OfflineCore, pod: Pod, wants_fixes: bool) -> Explanation:
    known = core.cluster.rows().names
    text = f"{pod.key} names {pod.node_name} as its node (spec.nodeName)"
    hint = did_you_mean(pod.node_name, known)
    reason = Reason(
        "NodeNameMismatch", "NodeName", "Filter", "", "names a node that does not exist"
    )
    return Explanation(
        pod=pod.key,
        state="pending",
        sentence=f"{text}, which does not exist, so nothing runs it{hint}.",
        nodes=len(known),
        causes=(reason,),
        fixes=_without_node_name(core, pod) if wants_fixes else (),
        notes=("no scheduler looks at a pod that names its node",),
    )


def _without_node_name(core: OfflineCore, pod: Pod) -> tuple[Fix, ...]:
    unnamed = replace(pod, spec=replace(pod.spec, node_name=""))
    attempt = Case(core, unnamed).attempt
    text = "leave the choice of the node to the scheduler (no spec.nodeName)"
    if not attempt.places:
        return ()
    changes = patch_pod(pod, unnamed, text)
    return (Fix("node-name", text, attempt.node, changes, tied=attempt.tied),)


# --- pods without a node --------------------------------------------------------------------------


def _unplaced(
    case: Case, ranking: Ranking | None, wants_fixes: bool, others: Sequence[Pod]
) -> Explanation:
    attempt = case.attempt
    if attempt.profile is None:
        return _without_scheduler(case, wants_fixes)
    held = held_back(case, others)
    if held is not None:
        return _of_group(case, "gated", held, wants_fixes)
    held = disagreement(case)
    if held is not None:
        return _of_group(case, "failed", held, False)
    waiting = _waiting(case)
    if waiting is not None:
        return waiting
    if attempt.places:
        placeable = _placeable(case, ranking)  # first: other attempts end what it reads
        held = too_few_fit(case)
        if held is None:
            return placeable
        return _of_group(case, "pending", held, wants_fixes, preemption_of_group(case))
    return _pending(case, wants_fixes)


def _placeable(case: Case, ranking: Ranking | None) -> Explanation:
    table: ScoreTable | None = None
    why = f"{case.attempt.node} is the node nominated for it"
    if ranking is not None:
        table = score_table(ranking, case.attempt.node)
        why = table.text
    sentence = f"{case.pod.key} would be placed on {case.attempt.node}: {why}."
    return _explanation(
        case, state="placeable", sentence=sentence, node=case.attempt.node, scores=table
    )


def _pending(case: Case, wants_fixes: bool) -> Explanation:
    is_in_group = group_of(case) is not None
    preempted = None if case.verdicts is None or is_in_group else preempt(case.attempt)
    found = sentences.causes(case)
    state = _state(case, preempted)
    preemption = preemption_of_group(case) if is_in_group else describe(case.pod, preempted)
    explanation = _explanation(
        case,
        state=state,
        sentence=_sentence(case, state, found, preemption),
        message=_message(case),
        causes=found,
        near_misses=near_misses(case),
        preemption=preemption,
        waits_for=_waits_for(case, state),
        wakes=wakes(case.attempt.profile, {each.plugin for each in found} | _refusing(case)),
        notes=sentences.suggestions(case),
    )
    if not wants_fixes or (preemption is not None and preemption.helps):
        return explanation  # with preemption the next attempt needs no fix
    fixes = find_fixes(case)
    if is_in_group:
        is_one_enough = any(each.kind == "new-node" for each in fixes)
        of_group = find_group_fixes(case)
        fixes += tuple(each for each in of_group if each.kind != "new-nodes" or not is_one_enough)
    return replace(explanation, fixes=fixes, notes=(*explanation.notes, *_untried(case, state)))


def _untried(case: Case, state: State) -> Iterator[str]:
    """Yield why fixes may be missing: a plugin that failed says nothing about them."""
    for plugin, message in case.attempts.failures.items() if state != "failed" else ():
        yield f"{plugin} failed while fixes were tried ({message}): some that help may be missing"


def _refusing(case: Case) -> set[str]:
    """Return the filters that are blamed: the first that refuses each node."""
    return {step.plugin for step in funnel(case)}


def _state(case: Case, preempted: Preempted | None) -> State:
    attempt = case.attempt
    if not attempt.gate.ok:
        return "gated"
    if attempt.error is not None and not attempt.error.is_rejection:
        return "failed"
    if case.pod.nominated_node_name and preempted is not None and _is_held(preempted):
        return "nominated"
    return "pending"


def _is_held(preempted: Preempted) -> bool:
    return preempted.status is not None and "terminating pod" in preempted.status.message


def _sentence(
    case: Case, state: State, found: tuple[Reason, ...], preemption: Preemption | None
) -> str:
    pod, attempt = case.pod, case.attempt
    if state == "failed" and attempt.error is not None:
        return (
            f"{pod.key} cannot be judged: {attempt.error.plugin} failed ({attempt.error.message})."
        )
    if state == "gated":
        return _gated(case, found[0])
    if attempt.error is not None:
        return f"{pod.key} is pending: the cluster has no nodes."
    if attempt.node:
        plugin = attempt.settled.plugin
        return f"{pod.key} is pending: {plugin} refuses {attempt.node} ({attempt.settled.message})."
    text = sentences.pending(case, found)
    if state == "nominated":
        node = pod.nominated_node_name
        return (
            f"{pod.key} waits for pods to leave {node}, where preemption makes room for it. {text}"
        )
    if preemption is not None and preemption.helps:
        return f"{text} Preemption makes room: {preemption.text}."
    return text


def _gated(case: Case, reason: Reason) -> str:
    gates = [gate.name for gate in case.pod.spec.scheduling_gates]
    if gates:
        which = plural(len(gates), "scheduling gate")
        return f"{case.pod.key} is not tried: it has {which} ({listed(gates, most=9)})."
    return f"{case.pod.key} is not tried: it {reason.text} ({reason.message})."


def _message(case: Case) -> str:
    attempt = case.attempt
    if attempt.error is not None:
        return attempt.error.message
    if attempt.cycle is None or attempt.found is None:
        return attempt.gate.message
    if attempt.node:
        return attempt.settled.message
    return case.base_message


def _without_scheduler(case: Case, wants_fixes: bool) -> Explanation:
    name, known = case.pod.scheduler_name, sorted(case.core.profiles)
    text = f"no profile of this scheduler has the name {name}{did_you_mean(name, known)}"
    reason = Reason(NO_SUCH_SCHEDULER, "", "", text, "names a scheduler that this one is not")
    return _explanation(
        case,
        state="pending",
        sentence=f"{case.pod.key} waits for a scheduler called {name}, which this one is not.",
        causes=(reason,),
        fixes=find_fixes(case) if wants_fixes else (),
        notes=(text, _profiles(case)),
    )


def _profiles(case: Case) -> str:
    return f"the profiles are: {listed(sorted(case.core.profiles), most=9)}"


def _of_group(
    case: Case,
    state: State,
    held: Held,
    wants_fixes: bool,
    preemption: Preemption | None = None,
) -> Explanation:
    """Explain a pod that is held back because of its pod group."""
    more = "" if preemption is None else f" Preemption makes room: {preemption.text}."
    return _explanation(
        case,
        state=state,
        sentence=f"{case.pod.key} {held.text}.{more}",
        preemption=preemption,
        message=held.reason.message,
        causes=(held.reason,),
        waits_for=(WaitsFor("group", held.group, f"its pod group {held.group}"),),
        fixes=find_group_fixes(case) if wants_fixes and preemption is None else (),
    )


# --- what a pod waits for -------------------------------------------------------------------------


def _waiting(case: Case) -> Explanation | None:
    """Explain a pod that Permit holds back, with the plugins that it waits for."""
    held = case.core.services.waiting_pods.get(case.pod.uid)
    settled = case.attempt.settled
    if held is None and not settled.is_wait:
        return None
    plugins = sorted(held.pending_plugins) if held is not None else [settled.plugin]
    node = case.attempt.node
    gets = "has a node" if held is not None else "would get a node"
    return _explanation(
        case,
        state="waiting",
        sentence=f"{case.pod.key} {gets}, {node}, and waits for {listed(plugins)} (Permit).",
        node=node,
        message=settled.message,
        waits_for=tuple(WaitsFor("permit", each, f"{each} to allow it") for each in plugins),
    )


def _waits_for(case: Case, state: State) -> tuple[WaitsFor, ...]:
    if case.attempt.gate.plugin == "SchedulingGates":
        return tuple(
            WaitsFor("gate", gate.name, f"its scheduling gate {gate.name} to be removed")
            for gate in case.pod.spec.scheduling_gates
        )
    if state == "gated":
        gate = case.attempt.gate
        return (WaitsFor("plugin", gate.plugin, f"{gate.plugin}: {gate.message}"),)
    if state == "nominated":
        row = case.cluster.table.live_row(case.pod.nominated_node_name)
        pods = case.cluster.table.pods[row].values() if row is not None else ()
        return tuple(
            WaitsFor("victim", info.key, f"{info.key} to leave {case.pod.nominated_node_name}")
            for info in pods
            if info.pod.is_terminating
        )
    return ()


def _explanation(case: Case, **fields: object) -> Explanation:
    attempt = case.attempt
    found = attempt.found
    given: dict[str, object] = {
        "pod": case.pod.key,
        "profile": "" if attempt.profile is None else attempt.profile.name,
        "nodes": case.node_count,
        "feasible": 0 if found is None else case.feasible_count,
        "funnel": funnel(case),
        **fields,
    }
    return Explanation(**given)  # type: ignore[arg-type]  # the callers name its fields
