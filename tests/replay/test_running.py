"""Many variants: in this process, in others, and on Dask. Nothing that has finished is lost."""

import os
import signal
import socket

import msgspec
import pytest

from podium.errors import ReplayError
from podium.replay import dask_cluster
from podium.replay.dask_cluster import DaskCluster
from podium.replay.running import run_here, run_in_processes
from podium.replay.variants import Variant, replay_variant
from tests.support.replay import arrive, nodes, trace

TRACE = trace(
    nodes(count=5),
    *(arrive(f"p{n}", n / 4, cpu="1500m", duration=9, priority=n % 3) for n in range(120)),
)
SEEDS = [Variant(seed=seed) for seed in range(4)]
BAD = Variant(name="bad.yaml", configuration="kind: Other")

# A plugin that ends the process of one variant only.
DEADLY = f"""
import os
from podium import framework as fwk

class Deadly(fwk.FilterPlugin):
    name = "Deadly"
    def filter(self, state, pod, node):
        os.kill(os.getpid(), {int(signal.SIGKILL)})
"""


def unseen(lines):
    """No bar."""


def as_bytes(outcomes):
    found = sorted(outcomes, key=lambda outcome: outcome.number)
    return [msgspec.json.encode(outcome.result) for outcome in found]


def test_a_variant_that_fails_is_one_outcome_among_others():
    first, second, third = run_here(TRACE, [SEEDS[0], BAD, SEEDS[1]], unseen)

    assert (first.result.seed, third.result.seed) == (0, 1)
    assert "bad.yaml has 2 problems" in str(second.result)


def test_progress_counts_the_lines_of_all_variants():
    seen = []

    list(run_here(TRACE, SEEDS[:2], seen.append))

    assert seen == sorted(seen)
    assert seen[-1] == 2 * len(TRACE.lines)


async def in_a_notebook():
    return replay_variant(TRACE, SEEDS[0])


def test_a_replay_runs_where_an_event_loop_runs():
    import asyncio

    assert asyncio.run(in_a_notebook()) == replay_variant(TRACE, SEEDS[0])


@pytest.mark.slow
def test_other_processes_give_the_same_bytes():
    """Each process hashes strings differently."""
    here = as_bytes(run_here(TRACE, SEEDS, unseen))

    assert as_bytes(run_in_processes(2, TRACE, SEEDS, unseen)) == here


@pytest.mark.slow
def test_only_the_variant_that_ends_its_process_is_lost(tmp_path):
    plugin = tmp_path / "deadly.py"
    plugin.write_text(DEADLY)
    deadly = Variant(name="deadly", plugins=(str(plugin),))

    outcomes = list(run_in_processes(2, TRACE, [SEEDS[0], deadly, SEEDS[1], BAD], unseen))

    found = {outcome.number: outcome.result for outcome in outcomes}
    assert (found[0].seed, found[2].seed) == (0, 1)
    assert "the process that ran it died" in str(found[1])
    assert "bad.yaml has 2 problems" in str(found[3])


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as found:
        yield found


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Dask
def test_dask_gives_the_same_bytes_and_reports_what_fails(cluster):
    here = as_bytes(run_here(TRACE, SEEDS, unseen))

    outcomes = list(DaskCluster(cluster.scheduler_address).run(TRACE, [*SEEDS, BAD], unseen))

    found = {outcome.number: outcome.result for outcome in outcomes}
    assert "bad.yaml has 2 problems" in str(found.pop(4))
    assert [msgspec.json.encode(found[number]) for number in range(4)] == here


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_worker_of_dask_that_dies_is_replaced(cluster):
    """Its variants run on the other worker, or on the one that takes its place."""
    here = as_bytes(run_here(TRACE, SEEDS, unseen))
    found = []
    for outcome in DaskCluster(cluster.scheduler_address).run(TRACE, SEEDS, unseen):
        if not found:
            os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
        found.append(outcome)

    assert as_bytes(found) == here


def test_no_dask_scheduler_answers(monkeypatch):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.2)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"

        with pytest.raises(ReplayError, match=f"no Dask scheduler answers at {address}"):
            DaskCluster(address)
