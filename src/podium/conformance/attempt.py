"""Replays one attempt of one pod against one fixed cluster, stage by stage, then at one go."""

from __future__ import annotations

from podium.api.objects import Pod
from podium.conformance import filtering, post_filter, ranking, verdicts
from podium.conformance.absence import Absence
from podium.conformance.cases import AttemptCase, Verdict
from podium.conformance.core import Workshop, check_profile, parse
from podium.conformance.outcome import Comparison
from podium.conformance.trial import Trial
from podium.cycle.outcome import Placed, Rejected
from podium.framework.answers import AttemptFailed


def replay_attempt(case: AttemptCase, workshop: Workshop, compare: Comparison) -> None:
    pod = parse(Pod, case.pod)
    core = workshop.filled(case.config, case.cluster)
    check_profile(core, pod)
    trial = Trial(core, pod, case.expect, Absence(core, pod), compare)
    if not _enters_queue(trial):
        return
    try:
        _compare_stages(trial)
    except AttemptFailed as failure:
        if case.expect.error is None:  # that it fails is compared, not the words
            compare.differ("error", None, str(failure))
    finally:
        core.background.run()  # a pod's next attempt does not begin before its evictions are done
    if compare.outcome.passed:
        _compare_whole(trial)
        core.background.run()


def _enters_queue(trial: Trial) -> bool:
    recorded = trial.expect.pre_enqueue
    if recorded is not None and recorded.plugin in trial.absence:
        trial.compare.wait_for(["preEnqueue"], [recorded.plugin])
        return False
    status = trial.profile.run_pre_enqueue(trial.pod)
    expected = verdicts.recorded(recorded or Verdict(verdicts.SUCCESS))
    return trial.compare.equal("preEnqueue", expected, verdicts.ours(status)) and status.ok


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
        ranking.compare(trial, cycle, found)
    else:
        post_filter.compare(trial, cycle, found)


def _fails_in_absent_plugin(trial: Trial, *, at_filter: bool) -> bool:
    """Whether the recorded fault is of a plugin that is not built yet, in Filter or after it."""
    text = trial.expect.error
    in_filter = any(v.code == verdicts.ERROR for v in (trial.expect.filter or {}).values())
    if text is None or in_filter != at_filter:
        return False
    blamed = [name for name in trial.absence if f'"{name}"' in text]
    if blamed:
        trial.compare.wait_for(["error"], blamed)
    return bool(blamed)


def _compare_whole(trial: Trial) -> None:
    """The cycle at one go must come to what its stages came to."""
    expect, compare = trial.expect, trial.compare
    match trial.start().run():
        case Placed(node=node):
            if node.name not in (expect.best or ()):
                compare.differ("outcome", list(expect.best or ()), node.name)
        case Rejected(diagnosis=None) as failed:
            if expect.error is None:
                compare.differ("error", None, failed.message)
        case Rejected() as rejected:
            compare.equal("outcome", expect.fit_error, rejected.message)
