"""What happens in a trial, and when: drawn from a seed, or read from a file.

A script is all that a trial depends on, so that a failing one can be shortened step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from podium import files
from podium.api.codec import UNREADABLE
from podium.errors import PodiumError

HOSTS: Final = ("leader", "standby", "all")

# Faults that last for a while: what happens to requests, to watches, and in plugins.
REQUEST_FAULTS: Final = (
    "delay",  # requests wait before they are carried out
    "refuse",  # 409, 429 with Retry-After, 500, 503
    "gone",  # 410 for watches, open ones too
    "stale-list",  # a list as it was some time ago
    "half-answer",  # the connection ends in the middle of an answer
    "reset",  # the connection ends before the request is carried out
    "lost-answer",  # the request is carried out, and the connection ends
    "slow-lease",  # the lease is read and written slowly, as on a slow disk
)
WATCH_FAULTS: Final = (
    "watch-delay",
    "watch-drop",
    "watch-duplicate",
    "watch-reorder",
    "watch-cut",
    "watch-silence",
)
PLUGIN_FAULTS: Final = ("plugin-raise", "plugin-hang", "plugin-leak")
LASTING: Final = (*REQUEST_FAULTS, *WATCH_FAULTS, *PLUGIN_FAULTS)
# Faults of a whole host.
HOST_FAULTS: Final = ("partition", "freeze", "kill", "clock")
FAULTS: Final = (*LASTING, *HOST_FAULTS)
DEEDS: Final = ("create-pod", "delete-pod", "create-node", "cordon", "uncordon")
# What happens to gangs, in scripts with groups only.
GROUP_DEEDS: Final = (
    "create-gang",  # a PodGroup of Kubernetes, and its pods one after the other
    "create-labelled-gang",  # a PodGroup of Coscheduling, and its pods
    "delete-gang",  # its pods, then its PodGroup
    "replace-member",  # a pod leaves, and another one with a new name joins
    "set-minimum",
    "open-gates",
)

_LONGEST_FAULT: Final = 25.0
_CPU_MILLI: Final = (100, 200, 300, 500, 800, 1300)
_NODE_CPU_MILLI: Final = 2000
_PODS_PER_MINUTE: Final = 25
_FAULTS_PER_MINUTE: Final = 7
_NODES: Final = 5
_DAY: Final = 86_400.0
_MAX_BYTES: Final = 64 << 20  # limit for a script file


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happens ``at`` seconds after the start.

    ``seconds`` is how long a fault lasts. ``seed`` decides its details, so that they stay the same
    when other steps are removed.
    """

    at: float
    what: str
    name: str = ""  # the pod, the node or the gang, or the host with the fault
    seconds: float = 0.0
    amount: int = 0  # cpu in thousandths of a core; percent for a fault
    seed: int = 0
    namespace: str = "default"
    count: int = 0  # pods of a gang
    minimum: int = 0  # pods that a gang needs
    priority: int = 0
    is_gated: bool = False

    @property
    def is_fault(self) -> bool:
        return self.what in FAULTS

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class Script(msgspec.Struct, frozen=True):
    """The steps in the order of their times; ``seconds`` after the start all faults end.

    ``groups`` says whether the cluster has gangs and quotas, and the plugins for them.
    """

    seed: int
    seconds: float
    steps: tuple[Step, ...]
    groups: bool = False

    def without(self, left_out: Iterable[int]) -> Script:
        chosen = frozenset(left_out)
        kept = (step for number, step in enumerate(self.steps) if number not in chosen)
        return msgspec.structs.replace(self, steps=tuple(kept))


def draw(seed: int, minutes: float) -> Script:
    """Draw the script of a seed: a busy cluster, and every kind of fault if there is time."""
    chance = Random(seed)
    seconds = minutes * 60
    steps = [*draw_nodes(), *_pods(chance, seconds), *draw_node_changes(chance, seconds)]
    steps += draw_faults(chance, seconds)
    return Script(seed, seconds, tuple(sorted(steps, key=lambda step: step.at)))


def draw_nodes() -> list[Step]:
    return [Step(0.0, "create-node", f"n{number}", 0, _NODE_CPU_MILLI) for number in range(_NODES)]


def _pods(chance: Random, seconds: float) -> list[Step]:
    """Pods come in bursts; most are deleted after a while, so that others find room."""
    steps = []
    count = max(1, round(_PODS_PER_MINUTE * seconds / 60))
    at = 0.0
    for number in range(count):
        if chance.random() < 0.3:
            at = chance.uniform(0, seconds)
        name = f"p{number}"
        steps.append(Step(at, "create-pod", name, 0, chance.choice(_CPU_MILLI)))
        if chance.random() < 0.85:
            ends = at + chance.expovariate(1 / 40)
            steps.append(Step(min(ends, seconds), "delete-pod", name))
    return steps


def draw_node_changes(chance: Random, seconds: float) -> list[Step]:
    steps = []
    for number in range(round(seconds / 60)):
        at, name = chance.uniform(0, seconds), f"n{chance.randrange(_NODES)}"
        steps += [Step(at, "cordon", name), Step(at + chance.uniform(0, 40), "uncordon", name)]
        if chance.random() < 0.2:
            steps.append(Step(at, "create-node", f"m{number}", 0, _NODE_CPU_MILLI))
    return [step for step in steps if step.at <= seconds]


def draw_faults(chance: Random, seconds: float) -> list[Step]:
    count = max(1, round(_FAULTS_PER_MINUTE * seconds / 60))
    return [
        Step(
            chance.uniform(0, seconds),
            chance.choice(FAULTS),
            chance.choice(HOSTS),
            round(chance.uniform(1, _LONGEST_FAULT), 1),
            chance.choice((10, 30, 60, 100)),
            chance.getrandbits(32),
        )
        for _ in range(count)
    ]


def text_of(script: Script) -> str:
    """Return the script as JSON with one step in each line."""
    fields = {"seed": script.seed, "seconds": script.seconds, "groups": script.groups}
    head = msgspec.json.encode(fields).decode()
    steps = ",\n  ".join(msgspec.json.encode(step).decode() for step in script.steps)
    return f'{head[:-1]}, "steps": [\n  {steps}\n]}}\n'


def read(path: Path) -> Script:
    """Read a script from a file; raise ``PodiumError`` if it is not one."""
    try:
        data = files.read(path, _MAX_BYTES)
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error
    if not data.strip():
        raise PodiumError(f"{path}: the file is empty")
    try:
        found = msgspec.json.decode(data, type=Script)
    except UNREADABLE as error:
        raise PodiumError(f"{path}: not a script of podium chaos: {error}") from error
    for where, problem in _problems(found):
        raise PodiumError(f"{path}: {where}: {problem}")
    in_order = tuple(sorted(found.steps, key=lambda step: step.at))
    return msgspec.structs.replace(found, steps=in_order)


def _problems(script: Script) -> Iterator[tuple[str, str]]:
    if not 0 < script.seconds <= _DAY:
        yield "seconds", f"must be above 0 and at most {_DAY:g}, a day"
    known = (*FAULTS, *DEEDS, *(GROUP_DEEDS if script.groups else ()))
    for number, step in enumerate(script.steps):
        where = f"steps[{number}]"
        if step.what not in known:
            yield f"{where}.what", f'there is no "{step.what}"'
        if step.is_fault and step.name not in HOSTS:
            yield f"{where}.name", f"must be one of {', '.join(HOSTS)}"
        if not 0 <= step.at <= script.seconds:
            yield f"{where}.at", f"must be from 0 to {script.seconds:g}, when the script ends"
        if not 0 <= step.seconds <= _DAY:
            yield f"{where}.seconds", f"must be from 0 to {_DAY:g}, a day"
