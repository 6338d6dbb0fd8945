"""Variants of a replay: each is a configuration with a seed. ``replay_variant`` runs one.

It is the job function of all ways to run many of them: in this process, in others, on Dask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

import msgspec

from podium import app
from podium.app import plugin_loading
from podium.app.own_plugins import in_tree_with_legacy
from podium.config import Configuration
from podium.config.feature_gates import FeatureGates
from podium.config.load import read, read_default
from podium.errors import PodiumError, ReplayError
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.release import LATEST, release_named
from podium.replay.engine import Progress, Replay
from podium.replay.failures import repeats_counted
from podium.replay.lines import Arrival, Trace
from podium.replay.result import Result
from podium.replay.workload import PodMaker


class Variant(msgspec.Struct, frozen=True):
    """One way to replay a trace, as plain values that can be sent to other processes.

    ``configuration`` is the text of a KubeSchedulerConfiguration, empty for the default, and
    ``name`` is what it is called in results. ``plugins`` are as ``--plugin`` takes them.
    """

    name: str = "default"
    configuration: str = ""
    seed: int = 0
    plugins: tuple[str, ...] = ()
    release: str = str(LATEST)
    attempt_seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}, seed {self.seed}"


def replay_variant(
    trace: Trace | bytes, variant: Variant, progress: Progress | None = None
) -> Result:
    """Replay a trace; as bytes it is what ``packed`` returns, which is unpacked once per process.

    Whatever goes wrong is a ``ReplayError``, which can be sent back to another process.
    """
    try:
        found = _unpacked(trace) if isinstance(trace, bytes) else trace
        return _outside_event_loop(partial(_replay, found, variant, progress))
    except PodiumError as error:
        raise ReplayError(str(error)) from error
    except Exception as error:
        raise ReplayError(f"it failed with {type(error).__name__}: {error}") from error


def _outside_event_loop(run: Callable[[], Result]) -> Result:
    """Run the replay; in another thread if this one has an event loop, as in a notebook."""
    if not _has_event_loop():
        return run()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


def _has_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def packed(trace: Trace) -> bytes:
    """Return a trace in a form that other processes read faster than its file."""
    return msgspec.msgpack.encode(trace)


@lru_cache(maxsize=1)
def _unpacked(data: bytes) -> Trace:
    return msgspec.msgpack.decode(data, type=Trace)


def load_configuration(variant: Variant) -> tuple[Configuration, Registry]:
    """Load the plugins and the configuration of a variant; ``ConfigError`` lists its problems."""
    gates = FeatureGates(release_named(variant.release))
    registry = plugin_loading.registry(variant.plugins, own=in_tree_with_legacy(gates))
    if not variant.configuration:
        return read_default(registry, gates=gates).configuration, registry
    reading = read(
        variant.configuration, registry, source=variant.name, gates=gates, versions=VERSIONS
    )
    return reading.configuration, registry


def _replay(trace: Trace, variant: Variant, progress: Progress | None) -> Result:
    configuration, registry = load_configuration(variant)
    replay = Replay(
        trace,
        configuration,
        registry,
        seed=variant.seed,
        attempt_seconds=variant.attempt_seconds,
    )
    with repeats_counted():
        replay.run(progress)
    return Result(trace.name, variant.name, variant.seed, replay.figures(), replay.samples())


def check(trace: Trace, variant: Variant) -> None:
    """Raise ``PodiumError`` if the trace cannot be replayed with this configuration."""
    configuration, registry = load_configuration(variant)
    profiles = app.build(configuration, registry=registry).profiles
    maker = PodMaker(trace.shapes, trace.objects)
    for line in trace.lines:
        if isinstance(line, Arrival):
            name = maker.template(line).scheduler_name
            if name not in profiles:
                known = ", ".join(profiles)
                raise ReplayError(
                    f'pod {line.name} names the scheduler "{name}", but {variant.name} has {known}'
                )
