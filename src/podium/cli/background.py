"""Runs blocking work beside an event loop, on threads that end with the program."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run the work on a thread of its own, which the end of the program does not wait for."""
    done: concurrent.futures.Future[T] = concurrent.futures.Future()
    done.set_running_or_notify_cancel()  # from now on only the thread settles it

    def do() -> None:
        try:
            done.set_result(work())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return asyncio.wrap_future(done)
