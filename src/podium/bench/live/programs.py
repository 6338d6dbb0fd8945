"""The schedulers that a benchmark can start: podium, other programs, and a loop that only binds.

All of them are started with the flags and the configuration file of kube-scheduler.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from podium.api.manifests import load_yaml, read_text
from podium.bench.live.children import BENCH
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.errors import PodiumError, WorkloadFailed

BIND_LOOP_FLAG: Final = "--bind-loop"
# The limit of scheduler_perf, so that the rate limit of the client is not what is measured.
_REQUESTS_PER_SECOND: Final = 5000


@dataclass(frozen=True, slots=True)
class Setup:
    """What a workload file says about the scheduler."""

    gates: FeatureGates = NO_CHOICE
    config: Path | None = None  # its configuration file, if it is not the default


@dataclass(frozen=True, slots=True)
class Program:
    """A scheduler that is started with these words, followed by kube-scheduler's flags."""

    name: str
    words: tuple[str, ...]

    def command(self, configuration: Path, gates: FeatureGates) -> list[str]:
        flags = [f"--config={configuration}", "--secure-port=0"]
        if gates.chosen:
            chosen = (f"{name}={str(value).lower()}" for name, value in gates.chosen.items())
            flags.append(f"--feature-gates={','.join(chosen)}")
        return [*self.words, *flags]


class _Podium(Program):
    """podium, which can behave as one of several releases."""

    def command(self, configuration: Path, gates: FeatureGates) -> list[str]:
        flags = super().command(configuration, gates)
        return [*flags, f"--emulated-version={gates.release}", "--logging-format=text"]


class _BindLoop(Program):
    """A loop that only binds; see ``bind_loop``."""

    def command(self, configuration: Path, gates: FeatureGates) -> list[str]:
        return [*self.words, str(configuration)]


PODIUM: Final = _Podium("podium", (sys.executable, "-m", "podium", "scheduler"))
BIND_LOOP: Final = _BindLoop("bind-loop", (*BENCH, BIND_LOOP_FLAG))


@dataclass(frozen=True, slots=True)
class LeaseName:
    """The Lease that a scheduler must acquire before it schedules."""

    namespace: str
    name: str


def configuration(kubeconfig: Path, lease: LeaseName | None, base: Path | None = None) -> bytes:
    """Return the configuration of a scheduler: that of a file or the default, with these fields."""
    limits = {"qps": _REQUESTS_PER_SECOND, "burst": _REQUESTS_PER_SECOND}
    election: dict[str, Any] = {"leaderElect": lease is not None}
    if lease is not None:
        election |= {"resourceNamespace": lease.namespace, "resourceName": lease.name}
    return msgspec.json.encode(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **(_document(base) if base else {}),
            "clientConnection": {"kubeconfig": str(kubeconfig), **limits},
            "leaderElection": election,
        }
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        found = load_yaml(read_text(path))
    except PodiumError as error:
        raise WorkloadFailed(f"{path}: {error}") from error
    if len(found) != 1:
        raise WorkloadFailed(f"{path}: must have one document, not {len(found)}")
    return found[0]


def parse_programs(texts: Sequence[str]) -> list[Program]:
    """Parse ``NAME=PATH`` pairs and ``bind-loop``. All mistakes are collected into one error."""
    problems = list(_problems(texts))
    if problems:
        raise PodiumError("\n".join(f"--compare {problem}" for problem in problems))
    return [_program(text) for text in texts]


def _problems(texts: Sequence[str]) -> Iterator[str]:
    names = {PODIUM.name}
    for text in texts:
        name, equals, path = text.partition("=")
        if name in names:
            yield f"{text}: the name {name!r} is already used"
        names.add(name)
        if text != BIND_LOOP.name and not (name and equals and path):
            yield f"{text}: must be NAME=PATH, such as kube-scheduler=PATH, or {BIND_LOOP.name}"
        elif equals and (why := _why_not_a_program(path)):
            yield f"{text}: {path} {why}"


def _why_not_a_program(path: str) -> str:
    if shutil.which(path):
        return ""
    if not os.path.lexists(path):
        return "does not exist"
    return "is a folder" if os.path.isdir(path) else "is not executable"


def _program(text: str) -> Program:
    name, _, path = text.partition("=")
    if not path:
        return BIND_LOOP
    return Program(name, (os.path.abspath(shutil.which(path) or path),))
