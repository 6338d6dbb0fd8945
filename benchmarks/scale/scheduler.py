"""`podium scheduler` with a heartbeat on its event loop, which measures how long the loop pauses.

    python -m benchmarks.scale.scheduler FLAGS...

Each line on standard input ends a phase: the answer is one line of JSON with its figures.
"""

import asyncio
import gc
import json
import os
import sys
import time
from pathlib import Path

from podium.cli import main
from podium.live import event_loop

BEAT_SECONDS = 0.001


class Heart:
    """Beats every millisecond. A pause is how much later than that a beat comes.

    ``cpu`` counts only the time in which the loop's thread ran: on a busy machine other processes
    make the loop wait, too.
    """

    def __init__(self):
        self.collections = []
        self._begun = 0.0
        gc.callbacks.append(self._collect)
        self.reset()

    def reset(self):
        self.longest = self.longest_cpu = 0.0
        self.collections.clear()
        self.cpu, self.at = time.process_time(), time.perf_counter()

    async def beat(self):
        while True:
            wall, cpu = time.perf_counter(), time.thread_time()
            await asyncio.sleep(BEAT_SECONDS)
            self.longest = max(self.longest, time.perf_counter() - wall - BEAT_SECONDS)
            self.longest_cpu = max(self.longest_cpu, time.thread_time() - cpu)

    def _collect(self, phase, _):
        if phase == "start":
            self._begun = time.thread_time()
        else:
            self.collections.append(time.thread_time() - self._begun)

    def figures(self):
        return {
            "seconds": time.perf_counter() - self.at,
            "cpu_seconds": time.process_time() - self.cpu,
            "pause_ms": 1e3 * self.longest,
            "pause_cpu_ms": 1e3 * self.longest_cpu,
            "gc_ms": 1e3 * max(self.collections, default=0.0),
            "memory_bytes": memory_bytes(),
        }


def memory_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def answer(heart):
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        print(json.dumps(heart.figures()), flush=True)
        heart.reset()
    os._exit(1)  # the benchmark is gone


async def measured(work, heart):
    heart.collections.clear()  # those while modules were loaded
    beside = [asyncio.ensure_future(each) for each in (heart.beat(), answer(heart))]
    try:
        return await work
    finally:
        for each in beside:
            each.cancel()


def run():
    heart, run_loop = Heart(), event_loop.run
    event_loop.run = lambda work: run_loop(measured(work, heart))
    return main(["scheduler", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(run())
