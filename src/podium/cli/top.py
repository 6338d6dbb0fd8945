"""``podium top``: a running scheduler in a terminal; one table where there is none."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Final

import msgspec
from rich.console import Console, Group
from rich.live import Live

from podium.cli import terminal
from podium.cli.background import in_background
from podium.cli.dashboard_client import DashboardClient, Look
from podium.cli.dashboard_sources import Connect, connector
from podium.cli.keyboard import Keyboard
from podium.cli.messages import FAILED, print_error
from podium.cli.top_lines import POD
from podium.cli.top_screen import Leave, Question, Screen
from podium.cli.top_table import table
from podium.clock import Clock, LoopClock, sleep
from podium.errors import PodiumError

LOOK_SECONDS: Final = 1.0


def run(args: argparse.Namespace) -> int:
    console = terminal.console()
    try:
        connect = connector(args)
        connect()  # without a cluster there is nothing to wait for
        if args.output == "text" and console.is_terminal and sys.stdin.isatty():
            asyncio.run(Viewer(connect, console, LoopClock()).run())
            return 0
        look = asyncio.run(look_twice(connect(), LoopClock()))
    except PodiumError as error:
        print_error(error)
        return FAILED
    if args.output == "json":
        print(msgspec.json.format(msgspec.json.encode(look)).decode())
    else:
        for line in table(look):
            console.print(line)
    return 0


async def look_twice(client: DashboardClient, clock: Clock) -> Look:
    """Return a look that has rates: they are measured between two looks."""
    await in_background(client.overview)
    await sleep(clock, LOOK_SECONDS)
    return await in_background(client.look)


class Viewer:
    """Keeps the screen up to date and obeys keys until the user leaves."""

    def __init__(self, connect: Connect, console: Console, clock: Clock) -> None:
        self.screen = Screen()
        self._connect = connect
        self._console = console
        self._clock = clock
        self._left = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._live = Live(console=console, screen=True, auto_refresh=False)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        with Keyboard(sys.stdin.fileno()) as keyboard, self._live:
            loop.add_reader(keyboard.fd, self._read, keyboard)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self._left.set)
            loop.add_signal_handler(signal.SIGWINCH, self.draw)
            loop.add_signal_handler(signal.SIGTSTP, self._suspend, keyboard)
            self._start(self.follow())
            try:
                await self._left.wait()
            finally:
                loop.remove_reader(keyboard.fd)
                for task in self._tasks:
                    task.cancel()

    def draw(self) -> None:
        width, height = self._console.size
        self._live.update(Group(*self.screen.lines(width, height)), refresh=True)

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _read(self, keyboard: Keyboard) -> None:
        keys = keyboard.read()
        if keys is None:
            self._left.set()
            return
        for pressed in keys:
            match self.screen.press(pressed):
                case Leave():
                    self._left.set()
                case Question() as question:
                    self._start(self._ask(question))
        self.draw()

    def _suspend(self, keyboard: Keyboard) -> None:
        """Give the terminal back while the shell has stopped this command (Ctrl-Z)."""
        self._live.stop()
        keyboard.release()
        os.kill(os.getpid(), signal.SIGSTOP)  # the next line runs after the shell's fg
        keyboard.take()
        self._live.start()
        self.draw()

    async def follow(self) -> None:
        """Look again and again; a scheduler that has gone is sought again."""
        self.draw()
        while True:
            try:
                self.screen.update(await in_background(lambda: self._connect().look()))
            except PodiumError as error:
                self.screen.lose(str(error))
            self.draw()
            await sleep(self._clock, LOOK_SECONDS)

    async def _ask(self, question: Question) -> None:
        try:
            lines = await in_background(lambda: self._answer(question))
        except PodiumError as error:
            lines = [str(error)]
        self.screen.answer(question, lines)
        self.draw()

    def _answer(self, question: Question) -> list[str]:
        client = self._connect()
        ask = client.explain_pod if question.kind == POD else client.explain_node
        return ask(question.name).lines(self._clock.now())
