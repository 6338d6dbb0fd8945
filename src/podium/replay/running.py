"""Runs many variants: in this process, in several ones, or on a Dask cluster.

Outcomes are yielded as they come, each with the number of its variant. A variant that fails is one
outcome among the others: what has finished is never lost.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Final, NamedTuple

from podium.errors import ReplayError
from podium.logs import escape_tracebacks
from podium.replay.engine import Progress
from podium.replay.lines import Trace
from podium.replay.result import Result
from podium.replay.variants import Variant, packed, replay_variant
from podium.worker_processes import end_with_parent

_POLL_SECONDS: Final = 0.2
DIED: Final = "the process that ran it died, most likely because memory ran out"


class Outcome(NamedTuple):
    """The end of a variant; ``number`` is its position among the variants."""

    number: int
    result: Result | ReplayError


class Died(ReplayError):
    """A process ended before it had finished."""


def run_here(trace: Trace, variants: Sequence[Variant], progress: Progress) -> Iterator[Outcome]:
    """Run one variant after the other in this process.

    ``progress`` is called with the number of lines that all variants have taken so far.
    """
    for number, variant in enumerate(variants):
        before = number * len(trace.lines)
        try:
            result = replay_variant(trace, variant, partial(_add, progress, before))
            yield Outcome(number, result)
        except ReplayError as error:
            yield Outcome(number, error)


def _add(progress: Progress, before: int, lines: int) -> None:
    progress(before + lines)


def run_in_processes(
    jobs: int, trace: Trace, variants: Sequence[Variant], progress: Progress
) -> Iterator[Outcome]:
    """Run variants in ``jobs`` processes.

    A variant whose process dies is tried again when the others have finished. It may have died
    because they left it too little memory.
    """
    data = packed(trace)
    again: list[int] = []
    for outcome in _Pool(data, jobs, progress).run(dict(enumerate(variants))):
        if isinstance(outcome.result, Died):
            again.append(outcome.number)
        else:
            yield outcome
    for number in again:
        yield from _Pool(data, 1, progress).run({number: variants[number]})


class _Pool:
    """Processes that run variants of one trace.

    A pool of ``concurrent.futures`` would not do: when it is left, also by Ctrl-C, it waits for
    what runs, which can take minutes. These processes are ended.
    """

    def __init__(self, data: bytes, jobs: int, progress: Progress) -> None:
        self._data = data
        self._jobs = jobs
        self._progress = progress
        self._counters: list[ctypes.c_longlong] = []

    def run(self, variants: dict[int, Variant]) -> Iterator[Outcome]:
        left = deque(variants.items())
        running: dict[_Worker, int] = {}
        try:
            for _ in range(min(self._jobs, len(left))):
                self._give_next(self._start(), left, running)
            while running:
                ready = wait([each.pipe for each in running], _POLL_SECONDS)
                self._progress(sum(counter.value for counter in self._counters))
                for worker in [each for each in running if each.pipe in ready]:
                    result = worker.result()
                    number = running.pop(worker)
                    if isinstance(result, Died) or not left:
                        worker.end()
                    if left:
                        free = self._start() if isinstance(result, Died) else worker
                        self._give_next(free, left, running)
                    yield Outcome(number, result)
        finally:
            for worker in running:
                worker.end()

    def _start(self) -> _Worker:
        worker = _Worker(self._data)
        self._counters.append(worker.counter)
        return worker

    def _give_next(
        self, worker: _Worker, left: deque[tuple[int, Variant]], running: dict[_Worker, int]
    ) -> None:
        number, variant = left.popleft()
        running[worker] = number
        worker.give(variant)


class _Worker:
    """A process that runs one variant after another. Only it has the other end of the pipe.

    ``pipe`` becomes readable when there is a result, or when the process has died. ``counter`` is
    the number of lines that it has taken. It alone writes it, so no lock is needed, which a
    process that dies could keep for ever.
    """

    def __init__(self, data: bytes) -> None:
        # Processes are started anew, not forked: threads of the parent may hold locks.
        context = multiprocessing.get_context("spawn")
        self.counter = context.RawValue(ctypes.c_longlong, 0)
        self.pipe, other = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(other, data, self.counter), daemon=True
        )
        # The child inherits the mask: Ctrl-C is for the parent, also while the child starts.
        # Starting the tracker would take the mask away, so it must run before.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            other.close()

    def give(self, variant: Variant) -> None:
        with suppress(OSError):  # the process has died: ``result`` says so
            self.pipe.send(variant)

    def result(self) -> Result | ReplayError:
        try:
            result: Result | ReplayError = self.pipe.recv()
        except (EOFError, OSError):
            return Died(DIED)
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


# --- in the processes of a pool ------------------------------------------------------------------


def _serve(pipe: Connection, data: bytes, counter: ctypes.c_longlong) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also if another library changes the mask
    escape_tracebacks()
    end_with_parent()
    while True:
        try:
            variant: Variant = pipe.recv()
            pipe.send(_run(data, variant, counter))
        except (EOFError, OSError):
            return  # the parent has ended


def _run(data: bytes, variant: Variant, counter: ctypes.c_longlong) -> Result | ReplayError:
    before = counter.value

    def count(taken: int) -> None:
        counter.value = before + taken

    try:
        return replay_variant(data, variant, count)
    except ReplayError as error:
        return error
