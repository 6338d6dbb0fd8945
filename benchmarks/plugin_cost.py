"""What a custom plugin adds to a cycle at 5,000 nodes. Run: python benchmarks/plugin_cost.py

Every case is a scheduler with the default plugins and one more. The schedulers take turns of a few
pods, so that other work of the machine affects all of them alike. The first pods of a turn are not
counted: they find the processor's caches full of another scheduler. Times are medians of CPU time.
The limits:

* a plugin without a signature that is asked node by node costs at most 1.2 times the default cycle
  and its own calls together (these calls by themselves are measured in the same turns);
* one without a signature that takes all nodes at once: at most 2 times the default cycle;
* one with a signature: at most 1.15 times the default cycle.
"""

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Any

import numpy as np

import podium
from podium import app, config
from podium import framework as fwk
from podium.api.objects import Pod
from podium.app import plugin_loading
from podium.app.core import OfflineCore
from podium.cli import plugin_template
from podium.testing import node, pod

NODES = 5_000
TURNS = 40
PODS = 8  # in each turn
WARM_UP = 4  # of these are not counted
FULL = fwk.Status.unschedulable("node(s) had no cpu left")


class PerNodeFilter(fwk.FilterPlugin):
    name = "PerNodeFilter"

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status | None:
        return None if node.free("cpu") > 0 else FULL


class PerNodeScore(fwk.ScorePlugin):
    name = "PerNodeScore"

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        return node.free("cpu") % 100


class VectorizedFilter(PerNodeFilter):
    name = "VectorizedFilter"

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return fwk.Column.where(nodes.free("cpu") <= 0, FULL, fwk.SUCCESS)


class VectorizedRefusals(PerNodeFilter):
    """Refuses a seventh of the nodes: the same ones for every pod."""

    name = "VectorizedRefusals"

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return refused_from(0, nodes)


class ChangingRefusals(PerNodeFilter):
    """Refuses other nodes for every pod: scores that are normalized cannot be kept."""

    name = "ChangingRefusals"

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        return refused_from(int(pod.name[1:]) % 7, nodes)


def refused_from(start: int, nodes: fwk.Rows) -> fwk.Statuses:
    refused = np.zeros(len(nodes), np.bool_)
    refused[start::7] = True
    return fwk.Column.where(refused, FULL, fwk.SUCCESS)


class VectorizedScore(PerNodeScore):
    name = "VectorizedScore"

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        return nodes.free("cpu") % 100


class SignedFilter(PerNodeFilter):
    name = "SignedFilter"
    sign = fwk.pod_fields("spec.tolerations")

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return fwk.Dependencies(node=fwk.Aspect.RESOURCES)


class SignedScore(PerNodeScore):
    name = "SignedScore"
    sign = fwk.pod_fields("spec.tolerations")

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return fwk.Dependencies(node=fwk.Aspect.RESOURCES)


@podium.filter
def by_pod(pod: Pod) -> bool:
    return not pod.labels


@podium.filter
def by_pod_and_node(pod: Pod, node: fwk.NodeInfo) -> bool:
    return pod.name not in node.labels


@podium.score
def by_node(node: fwk.NodeInfo) -> int:
    return len(node.labels)


@podium.filter
def by_nodes(pod: Pod, nodes: fwk.Rows) -> Any:
    return nodes.free("cpu") > 0


def core_with(*written: object) -> OfflineCore:
    registry = plugin_loading.registry(plugins=written)
    core = app.build(config.default(registry), registry=registry)
    for number in range(NODES):
        core.cluster.set_node(node(f"n{number}"))
    return core


@dataclass
class Case:
    """``own`` are the plugin's calls alone, where the limit counts them; else ``limit`` is set."""

    name: str
    core: OfflineCore
    limit: float = 0.0
    own: Callable[[OfflineCore, Any], None] | None = None
    cycles: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)

    def turn(self, number: int) -> None:
        for subject in (pod(f"p{number * PODS + each}", cpu="10m") for each in range(PODS)):
            queued = fwk.QueuedPod.of(subject)
            begin = thread_time()
            self.core.cycle(queued).run()
            self.cycles.append(thread_time() - begin)
            if self.own is not None:
                begin = thread_time()
                self.own(self.core, subject)
                self.calls.append(thread_time() - begin)
        for times in (self.cycles, self.calls):
            del times[-PODS : WARM_UP - PODS]

    def row(self, default: float) -> str:
        took = median(self.cycles)
        figures = f"{self.name:<46} {took * 1e6:>9.0f} {took / default:>8.2f}"
        if self.own is None:
            return f"{figures} {'':>9} {'':>9}  {self.limit:.2f}"
        own = median(self.calls)
        return f"{figures} {own * 1e6:>9.0f} {took / (default + own):>9.2f}  1.20"


def filter_calls(core: OfflineCore, subject: Pod) -> None:
    (profile,) = core.profiles.values()
    plugin, state = profile.filters[-1], fwk.CycleState()
    for each in core.cluster.rows():
        plugin.filter(state, subject, each)


def function_calls(core: OfflineCore, subject: Pod) -> None:
    for each in core.cluster.rows():
        by_pod_and_node(pod=subject, node=each)


def score_calls(core: OfflineCore, subject: Pod) -> None:
    (profile,) = core.profiles.values()
    plugin, state = profile.scores[-1], fwk.CycleState()
    for each in core.cluster.rows():
        plugin.score(state, subject, each)


def cases(directory: Path) -> Iterator[Case]:
    """The default cycle first, then those that are compared with it."""
    yield Case("default plugins", core_with(), 1.0)
    yield Case("with signature: filter", core_with(SignedFilter), 1.15)
    yield Case("with signature: score", core_with(SignedScore), 1.15)
    yield Case("@podium.score def f(node)", core_with(by_node), 1.15)
    file, _ = plugin_template.write("Rack", directory)
    yield Case("the class of podium plugin new", core_with(*plugin_loading.load(str(file))), 1.15)
    yield Case("without signature: filter_all", core_with(VectorizedFilter), 2.0)
    yield Case("without signature: filter_all, 1 in 7 refused", core_with(VectorizedRefusals), 2.0)
    yield Case("without signature: filter_all, always others", core_with(ChangingRefusals), 2.0)
    yield Case("without signature: score_all", core_with(VectorizedScore), 2.0)
    yield Case("@podium.filter def f(pod)", core_with(by_pod), 2.0)
    yield Case("@podium.filter def f(pod, nodes)", core_with(by_nodes), 2.0)
    yield Case("without signature: filter", core_with(PerNodeFilter), own=filter_calls)
    yield Case("without signature: score", core_with(PerNodeScore), own=score_calls)
    yield Case("@podium.filter def f(pod, node)", core_with(by_pod_and_node), own=function_calls)


def main() -> None:
    with TemporaryDirectory() as directory:
        compared = list(cases(Path(directory)))
    gc.disable()  # a running scheduler collects between slices of time, not in a cycle
    for number in range(TURNS):
        for case in compared:
            case.turn(number)
        gc.collect()
    default = median(compared[0].cycles)
    print(f"{NODES:,} nodes, {TURNS * (PODS - WARM_UP)} pods each, medians")
    print(f"{'':<46} {'cycle µs':>9} {'/default':>8} {'own µs':>9} {'/both':>9}  at most")
    for case in compared:
        print(case.row(default))


if __name__ == "__main__":
    main()
