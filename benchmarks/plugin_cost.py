"""What a per-node plugin of known cost adds to a cycle. Run: python benchmarks/plugin_cost.py

The plugin spends a given time on each node, in pure Python. A cycle may take as long as without it,
plus 1.3 times nodes x that time; `podium plugin stats` must attribute the difference to the plugin.
"""

from collections.abc import Iterator
from statistics import median
from time import perf_counter

import podium
from podium import app, config
from podium import framework as fwk
from podium.app import plugin_loading
from podium.app.core import OfflineCore
from podium.testing import node, pod

NODES = 5_000
PODS = 15
MOST = 1.3


def spend(seconds: float) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def plugins(seconds: float) -> Iterator[tuple[str, object]]:
    class Filter(fwk.FilterPlugin):
        name = "Costly"

        def filter(self, state: object, pod: object, node: object) -> None:
            spend(seconds)

    class Score(fwk.ScorePlugin):
        name = "Costly"

        def score(self, state: object, pod: object, node: object) -> int:
            spend(seconds)
            return 1

    @podium.filter(name="Costly")
    def function(pod: object, node: object) -> None:
        spend(seconds)

    yield from (("filter", Filter), ("score", Score), ("@podium.filter", function))


def core_with(*written: object) -> OfflineCore:
    registry = plugin_loading.registry(plugins=written)
    core = app.build(config.default(registry), registry=registry)
    for number in range(NODES):
        core.cluster.set_node(node(f"n{number}"))
    return core


def cycle_seconds(core: OfflineCore, number: int) -> float:
    subject = pod(f"p{number}", cpu="10m")
    queued = fwk.QueuedPod.of(subject)
    begin = perf_counter()
    core.cycle(queued).run()
    took = perf_counter() - begin
    core.cluster.forget(subject.uid)
    return took


def known_cost(seconds: float) -> float:
    """What spending this time on all nodes takes here: the clock has a cost of its own."""
    begin = perf_counter()
    for _ in range(NODES):
        spend(seconds)
    return perf_counter() - begin


def main() -> None:
    print(f"{NODES:,} nodes, median of {PODS} pods; ratio: at most {MOST} is asked for")
    print("plugin          µs/node  without ms   known ms    with ms    ratio  attributed ms")
    plain = core_with()
    for microseconds in (10, 20):
        for name, written in plugins(microseconds * 1e-6):
            core = core_with(written)
            rounds = [  # in turns, so that what else the machine does hits all alike
                (cycle_seconds(plain, n), known_cost(microseconds * 1e-6), cycle_seconds(core, n))
                for n in range(PODS)
            ]
            without, known, took = (median(column) for column in zip(*rounds, strict=True))
            (profile,) = core.profiles.values()
            attributed = sum(each.seconds for each in profile.calls if each.plugin == "Costly")
            print(
                f"{name:<15} {microseconds:>7} {without * 1e3:>11.2f} {known * 1e3:>10.1f} "
                f"{took * 1e3:>10.1f} {(took - without) / known:>8.2f} "
                f"{attributed / PODS * 1e3:>14.1f}"
            )


if __name__ == "__main__":
    main()
