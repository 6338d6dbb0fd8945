"""Replays one attempt of a pod on a fixed cluster, stage by stage, and then as a whole."""

from __future__ import annotations

from podium.api.objects import Pod
from podium.conformance import allocations, filtering, post_filter, ranking
from podium.conformance.cases import AttemptCase, Verdict
from podium.conformance.core import CoreBuilder, check_profile, parse, unknown_kinds
from podium.conformance.outcome import Comparison
from podium.conformance.trial import ERROR, SUCCESS, AbsentPlugins, Trial, ours, recorded
from podium.cycle.outcome import Placed, Rejected
from podium.framework.answers import AttemptFailed


def replay_attempt(case: AttemptCase, builder: CoreBuilder, compare: Comparison) -> None:
    if unread := unknown_kinds(case.cluster):
        for kind in unread:
            compare.leave_out(["expect"], f"{kind} are not read yet")
        return
    trial = _trial(case, builder, compare)
    if not _enters_queue(trial):
        return
    try:
        _compare_stages(trial)
    except AttemptFailed as failure:
        if case.expect.error is None:  # only that it fails is compared, not the message
            compare.differ("error", None, str(failure))
    finally:
        trial.core.background.run()  # finish evictions before the next attempt of the pod
    if allocations.compare_given_back(trial):
        # PostFilter has changed the claims: start from the recorded cluster.
        trial = _trial(case, builder, compare)
    if compare.outcome.passed:
        _compare_whole(trial)
        trial.core.background.run()


def _trial(case: AttemptCase, builder: CoreBuilder, compare: Comparison) -> Trial:
    """Return the attempt on a new core."""
    pod = parse(Pod, case.pod)
    core = builder.filled(case.config, case.cluster)
    check_profile(core, pod)
    return Trial(core, pod, case.expect, AbsentPlugins(core, pod), compare)


def _enters_queue(trial: Trial) -> bool:
    verdict = trial.expect.pre_enqueue
    if verdict is not None and verdict.plugin in trial.absent:
        trial.compare.needs(["preEnqueue"], [verdict.plugin])
        return False
    status = trial.profile.run_pre_enqueue(trial.pod)
    expected = recorded(verdict or Verdict(SUCCESS))
    return trial.compare.equal("preEnqueue", expected, ours(status)) and status.ok


def _compare_stages(trial: Trial) -> None:
    if _fails_in_absent_plugin(trial, at_filter=True):
        return
    cycle = trial.start()
    found = cycle.find_feasible(fast_path=False)
    if not filtering.agrees(trial, found) or _fails_in_absent_plugin(trial, at_filter=False):
        return
    if trial.expect.error is not None:
        cycle.score(trial.feasible(found))
        trial.compare.differ("error", trial.expect.error, None)
    elif trial.expect.feasible or trial.expect.best:
        allocations.compare(trial, cycle, found)
        ranking.compare(trial, cycle, found)
    else:
        post_filter.compare(trial, cycle, found)


def _fails_in_absent_plugin(trial: Trial, *, at_filter: bool) -> bool:
    """Whether the recorded error is of an absent plugin, in Filter or after it."""
    text = trial.expect.error
    in_filter = any(v.code == ERROR for v in (trial.expect.filter or {}).values())
    if text is None or in_filter != at_filter:
        return False
    blamed = [name for name in trial.absent if f'"{name}"' in text]
    if blamed:
        trial.compare.needs(["error"], blamed)
    return bool(blamed)


def _compare_whole(trial: Trial) -> None:
    """Run the whole cycle at once; its outcome must be that of its stages."""
    expect, compare = trial.expect, trial.compare
    match trial.start().run():
        case Placed(node=node):
            if node.name not in (expect.best or ()):
                compare.differ("outcome", list(expect.best or ()), node.name)
        case Rejected(diagnosis=None) as failed:
            if expect.error is None:
                compare.differ("error", None, failed.message)
        case Rejected() as rejected:
            expected = post_filter.naming(rejected.nominate, expect.fit_error, expect.preemption)
            compare.equal("outcome", expected, rejected.message)
