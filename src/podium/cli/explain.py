"""``podium explain``: why a pod is pending or has its node, what a node takes, what waits."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from podium.cli import terminal
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.explain_answers import Answer, explain_node, explain_pod, explain_queue
from podium.cli.explain_sources import find_target
from podium.cli.explain_text import print_lines, print_source
from podium.cli.log_lines import write_warnings
from podium.cli.messages import FAILED, print_error
from podium.clock import LoopClock
from podium.errors import PodiumError

LEAST_PAUSE_SECONDS: Final = 1.0
_SHARE_OF_TIME: Final = 3  # at most one third of the time is spent on reading a watched cluster

_SUBJECTS: Final[dict[str, Callable[..., Answer]]] = {
    "pod": explain_pod,
    "node": explain_node,
    "queue": explain_queue,
}


class _Shown(NamedTuple):
    """An answer as plain data, and how long it took to get."""

    answer: Answer
    plain: Any
    seconds: float


def run(args: argparse.Namespace) -> int:
    write_warnings(repeats=False)
    try:
        _check(args)
        status = 0
        for shown in _answers(args):
            _print(shown, args)
            status = FAILED if shown.answer.is_pending else 0
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    return status


def _check(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if args.subject != "pod":
        return
    if (args.name is None) == (args.filename is None):
        raise PodiumError("name one pod, or give its manifest with -f")
    if args.attempt is not None and (args.filename is not None or args.snapshot is not None):
        other = "-f" if args.filename is not None else "--from"
        text = "is about what a running scheduler remembers: leave it out beside"
        raise PodiumError(f"--attempt {text} {other}")


def _answers(args: argparse.Namespace) -> Iterator[_Shown]:
    """Yield the answer; with --watch, again whenever it has changed."""
    last: Any = None
    while True:
        shown = _ask(args)
        if shown.plain != last:
            yield shown
            last = shown.plain
        if not args.watch:
            return
        time.sleep(max(LEAST_PAUSE_SECONDS, (_SHARE_OF_TIME - 1) * shown.seconds))


def _ask(args: argparse.Namespace) -> _Shown:
    clock = LoopClock()
    begun = clock.now()
    answer = _SUBJECTS[args.subject](find_target(args), args)
    plain = msgspec.json.decode(msgspec.json.encode(answer.plain()))
    return _Shown(answer, plain, clock.now() - begun)


def _print(shown: _Shown, args: argparse.Namespace) -> None:
    if args.output == "json" and args.watch:  # one line for each answer
        print(msgspec.json.encode(shown.plain).decode(), flush=True)
    elif args.output == "json":
        print(msgspec.json.format(msgspec.json.encode(shown.plain)).decode())
    elif args.output == "yaml":
        if args.watch:
            print("---")
        yaml.safe_dump(shown.plain, sys.stdout, sort_keys=False, allow_unicode=True)
    else:
        console = terminal.console(soft_wrap=False)
        if not console.is_terminal:
            console.soft_wrap = True
        print_lines(shown.answer.lines(LoopClock().now()), console)
        print_source(shown.answer.source, console)
        if args.watch:
            console.print()
    sys.stdout.flush()
