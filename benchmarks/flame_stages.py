"""Sorts the samples of a running scheduler into the stages of one pod, from watch to binding.

`flame_graph.py` samples, `flame_picture.py` draws. A stack belongs to the stage of the innermost
frame that a rule names, so that a garbage collection during a slice of the main loop counts as one.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

MAIN_LOOP, REST = "main loop", "event loop, sockets"
# Of the functions outside Python only these are kept. A stack that waits for events is idle.
SYSTEM_CALLS = frozenset(("read", "write"))
IDLE = frozenset(("epoll_pwait", "epoll_wait"))
# Nothing takes this many samples in a row: a stack that does was waiting for a core of the machine.
MOST_IN_A_ROW = 8
_FOLDERS = re.compile(r".*/(?:src|site-packages|lib/python[\d.]+)/|^/.*/")

# The stages in the order in which a pod passes them: where the code is, and the beginnings of the
# frames that start it, as "module:function".
STAGES = {
    "read watch": ("client/reflector", ("client/reflector:", "client/http:Connection.stream")),
    "decode": ("client/watch_events", ("client/watch_events:EventDecoder.",)),
    "handlers, state": ("live/event_handlers", ("client/known_objects:",)),
    "queue": ("queue", ("queue/",)),
    MAIN_LOOP: ("live/scheduler", ("live/scheduler:Scheduler.run", "live/tasks:")),
    "cycle": ("cycle, plugins", ("live/scheduler:Scheduler.schedule_one",)),
    "bind request": ("live/binding, client", ("live/scheduler:Scheduler.bind",)),
    "replies": ("client/wire", ("client/wire:Wire.data_received",)),
    "after binding": ("live/binding", ("live/binding:Binder.finish",)),
    "event request": ("client/event_recorder", ("client/event_recorder:",)),
    "metrics": ("metrics", ("metrics:", "live/scheduler:Scheduler._observe")),
    "garbage collection": ("live/slices", ("live/slices:Collector.",)),
    REST: ("uvloop", ()),
}
_RULES = [(start, stage) for stage, (_, starts) in STAGES.items() for start in starts]


class Function(NamedTuple):
    name: str
    file: str  # "podium/cycle/cycle.py"

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")

    @property
    def is_system_call(self) -> bool:
        return self.name in SYSTEM_CALLS and "libc.so" in self.file


Stack = tuple[Function, ...]


@dataclass
class Frame:
    """A function with the samples in it and in what it calls."""

    name: str = ""
    file: str = ""
    samples: int = 0
    callees: dict[Function, "Frame"] = field(default_factory=dict)

    def call(self, function: Function) -> "Frame":
        return self.callees.setdefault(function, Frame(function.name, function.file))


def stacks_of(recording: dict[str, Any]) -> Counter[Stack]:
    """Count the stacks of the main thread in what py-spy wrote in the format speedscope."""
    functions = [
        Function(frame["name"], _FOLDERS.sub("", frame["file"] or ""))
        for frame in recording["shared"]["frames"]
    ]
    stacks: Counter[Stack] = Counter()
    for profile in recording["profiles"]:
        if "MainThread" in profile["name"]:
            for stack, samples in groupby(profile["samples"]):
                known = tuple(functions[index] for index in stack)
                stacks[known] += min(len(list(samples)), MOST_IN_A_ROW)
    return stacks


def stages_of(stacks: Counter[Stack]) -> dict[str, Frame]:
    """Merge stacks into one tree per stage; idle time and the end of the process are left out."""
    trees = {stage: Frame(stage) for stage in STAGES}
    for stack, samples in stacks.items():
        if any(function.name in IDLE and not function.is_python for function in stack):
            continue
        if not any(function.is_python for function in stack):  # the interpreter frees its memory
            continue
        known = [one for one in stack if one.is_python or one.is_system_call]
        stage, inner = _stage_of(known)
        tree = trees[stage]
        tree.samples += samples
        for function in inner:
            tree = tree.call(function)
            tree.samples += samples
    return trees


def _stage_of(stack: list[Function]) -> tuple[str, list[Function]]:
    """Return the stage of a stack, and its functions from the one that begins the stage."""
    for index in range(len(stack) - 1, -1, -1):
        stage = _begun_by(stack[index])
        if stage is not None:
            return stage, stack[_first(stack, index, stage) :]
    return REST, [function for function in stack if not function.is_python]


def _first(stack: list[Function], index: int, stage: str) -> int:
    """Return where the stage begins: callers of the same stage belong to it."""
    while index and _begun_by(stack[index - 1]) == stage:
        index -= 1
    return index


def _begun_by(function: Function) -> str | None:
    if not function.file.startswith("podium/"):
        return None
    module = function.file.removeprefix("podium/").removesuffix(".py")
    place = f"{module}:{function.name}"
    return next((stage for start, stage in _RULES if place.startswith(start)), None)
