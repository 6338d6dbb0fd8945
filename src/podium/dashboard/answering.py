"""The process that answers the dashboard's questions, and the pipe to it.

A pool of ``concurrent.futures`` would not do. If its process is ended while it writes an answer,
the pool waits for the rest of it, for ever, and with it the end of the whole program.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

import msgspec

from podium.dashboard.mirror import Changes, Decider
from podium.errors import PodiumError
from podium.logs import get_logger
from podium.worker_processes import end_with_parent

log = get_logger(__name__)

NICE: Final = 5  # the scheduler comes first where both want the same core

Question = tuple[int, Decider, Changes, str, tuple[object, ...]]
"""Seconds, how to decide, what has changed, a name of ``questions.ANSWERS`` and its arguments."""


class Answer(NamedTuple):
    """The answer to a question: JSON, or why there is none with a status of HTTP."""

    status: int
    body: bytes


class Answering:
    """A process that was started. Only it has the other end of the pipe."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        # The child inherits the mask: Ctrl-C is for the scheduler, also while the child starts.
        # Starting the tracker would take the mask away, so it must run before.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            other.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def ask(self, question: Question) -> Answer:
        """Send a question and wait for the answer; one at a time, from any thread.

        Raises ``EOFError`` or ``OSError`` if the process has ended or ends meanwhile.
        """
        self._pipe.send(question)
        answer: Answer = self._pipe.recv()
        return answer

    def end(self) -> None:
        """End the process. A thread that waits in ``ask`` gets an error; the pipe is its to close.

        So the pipe is closed only when nobody refers to it any more.
        """
        self._process.kill()


# --- in the other process -------------------------------------------------------------------------

_replicas: list[object] = []  # the one of this process, once there is one


def _serve(pipe: Connection) -> None:
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also if another library changes the mask
    end_with_parent()
    while True:
        try:
            pipe.send(_answer(*pipe.recv()))
        except (EOFError, OSError):
            return  # the scheduler has ended


def _answer(
    patience: int, decider: Decider, changes: Changes, question: str, args: tuple[object, ...]
) -> Answer:
    from podium.dashboard.questions import ANSWERS  # not loaded where the scheduler runs
    from podium.dashboard.replica import Replica
    from podium.serve.operations import Unknown

    signal.alarm(patience)  # it ends the process
    try:
        if not _replicas:
            _replicas.append(Replica(decider))
        (replica,) = _replicas
        assert isinstance(replica, Replica)
        replica.apply(changes)
        return Answer(200, msgspec.json.encode(ANSWERS[question](replica, *args)))
    except Unknown as error:
        return Answer(404, str(error).encode())
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        return Answer(400, (str(error) or "nested too deeply").encode())
    except (PodiumError, LookupError) as error:
        return Answer(422, str(error).encode())
    except Exception:
        log.error("cannot answer", question=question)
        return Answer(500, b"podium failed; its log has the traceback")
    finally:
        signal.alarm(0)
