"""What holds for every preemption, on random clusters with all plugins at work."""

import msgspec
from hypothesis import given

from podium import app
from podium.config import default
from podium.framework.answers import AttemptFailed
from podium.framework.queued_pod import QueuedPod
from tests.support import snapshots
from tests.support.clusters import clusters, feed, pods
from tests.support.search import examples


class Failed:
    """A pod that fits nowhere, at the moment PostFilter is asked."""

    def __init__(self, cluster, pod):
        spec = msgspec.structs.replace(pod.spec, priority=7)
        self.pod = msgspec.structs.replace(pod, spec=spec)
        self.core = app.build(default(app.in_tree()))
        feed(self.core, cluster)
        self.cycle = self.core.cycle(QueuedPod.of(self.pod))
        post_filters = self.core.profiles["default-scheduler"].post_filters
        self.plugin = next(p for p in post_filters if p.name == "DefaultPreemption")
        self.evaluation = None
        self.untouched = True
        try:
            found = self.cycle.find_feasible()
        except AttemptFailed:
            return
        if not len(found.feasible):
            self._evaluate(found.statuses)

    def _evaluate(self, statuses):
        before = self._snapshot()
        self.evaluation = self.plugin.evaluator.evaluate(self.cycle.state, self.pod, statuses)
        self.untouched = snapshots.is_same(before, self._snapshot())

    def _snapshot(self):
        return (
            snapshots.of_cluster(self.core.cluster),
            snapshots.of_state(self.cycle.state),
            self.core.nominator.version,
        )


@examples(300)
@given(cluster=clusters(), pod=pods("new"))
def test_a_dry_run_leaves_no_trace(cluster, pod):
    failed = Failed(cluster, pod)
    assert failed.untouched
    failed.core.cluster.check_invariants()


@examples(300)
@given(cluster=clusters(), pod=pods("new"))
def test_victims_have_lower_priority_and_budgets_are_kept_if_possible(cluster, pod):
    failed = Failed(cluster, pod)
    if failed.evaluation is None:
        return
    candidates = failed.evaluation.candidates
    for candidate in candidates:
        assert candidate.victims
        assert all(victim.priority < 7 for victim in candidate.victims)
    if any(not candidate.violations for candidate in candidates):
        best = failed.plugin.evaluator.best(candidates)
        assert not any(candidate.violations for candidate in best)


def _any_terminating(candidate):
    """Spreading takes such a victim off a count that it never was in, as upstream does."""
    return any(victim.pod.is_terminating for victim in candidate.victims)


@examples(300)
@given(cluster=clusters(), pod=pods("new"))
def test_the_pod_fits_when_the_victims_are_gone(cluster, pod):
    failed = Failed(cluster, pod)
    if failed.evaluation is None:
        return
    for candidate in failed.evaluation.candidates:
        if failed.pod.spec.topology_spread_constraints and _any_terminating(candidate):
            continue
        core = app.build(default(app.in_tree()))
        gone = {victim.uid for victim in candidate.victims}
        feed(core, cluster)
        for uid in gone:
            core.cluster.remove_pod(core.cluster.pods[uid].pod)
        found = core.cycle(QueuedPod.of(failed.pod)).find_feasible(fast_path=False)
        assert candidate.node in found.feasible.names
