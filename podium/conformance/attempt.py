"""Replays one attempt of one pod against one fixed cluster, stage by stage, then at one go."""

from __future__ import annotations

from podium.api.objects import Pod
from podium.conformance import filtering, post_filter, ranking, verdicts
from podium.conformance.cases import AttemptCase, Verdict
from podium.conformance.core import Workshop, check_profile, missing_plugins, parse
from podium.conformance.outcome import Comparison
from podium.conformance.trial import Trial
from podium.cycle.outcome import Placed, Rejected
from podium.framework.answers import AttemptFailed


def replay_attempt(case: AttemptCase, workshop: Workshop, compare: Comparison) -> None:
    pod = parse(Pod, case.pod)
    core = workshop.filled(case.config, case.cluster)
    check_profile(core, pod)
    if missing := missing_plugins(core, pod):
        compare.leave_out(missing)
        return
    trial = Trial(core, pod, case.expect, compare)
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
    status = trial.profile.run_pre_enqueue(trial.pod)
    expected = verdicts.recorded(trial.expect.pre_enqueue or Verdict(verdicts.SUCCESS))
    return trial.compare.equal("preEnqueue", expected, verdicts.ours(status)) and status.ok


def _compare_stages(trial: Trial) -> None:
    cycle = trial.start()
    found = cycle.find_feasible(fast_path=False)
    if not filtering.agrees(trial, found):
        return
    if trial.expect.error is not None:
        cycle.score(found.feasible)
        trial.compare.differ("error", trial.expect.error, None)
    elif trial.expect.feasible or trial.expect.best:
        ranking.compare(trial, cycle, found)
    else:
        post_filter.compare(trial, cycle, found)


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
