"""A simulated cluster for plain test functions: the event loop runs only inside its methods.

The pytest fixture ``cluster`` is one; other test frameworks use it as a context manager.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import PathLike
from typing import Any, TypeVar

from podium import config
from podium.api.meta import ApiObject
from podium.app import in_tree_with_legacy, plugin_loading
from podium.clock import give_way
from podium.config import Configuration
from podium.config.feature_gates import FeatureGates
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.release import LATEST, release_named
from podium.testing.cluster import Change, Json, SimulatedCluster

T = TypeVar("T")

Written = Mapping[str, Any] | str | PathLike[str]


class Cluster:
    """``with Cluster(plugins=[Mine]) as cluster:`` an API server, nodes, a scheduler, fake time.

    ``plugins`` are classes, factories or decorated functions; they run in every profile that does
    not name them. ``configuration`` is a file of it, or its content as a dict. All behaves as in
    ``kubernetes_version``, such as "1.36". ``simulated`` says more about each method.
    """

    def __init__(
        self,
        *,
        plugins: Iterable[object] = (),
        configuration: Written | None = None,
        kubernetes_version: str = str(LATEST),
    ) -> None:
        own = in_tree_with_legacy(FeatureGates(release_named(kubernetes_version)))
        registry = plugin_loading.registry(plugins=plugins, own=own)
        self.simulated = SimulatedCluster(_read(configuration, registry), registry)
        self._loop = asyncio.Runner()
        # In a notebook or an async test a loop is running already: ours then runs in a thread.
        self._thread = ThreadPoolExecutor(1) if _is_in_loop() else None

    def __enter__(self) -> Cluster:
        self._run(self.simulated.__aenter__())
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            self._run(self.simulated.__aexit__(*raised))
        finally:
            self._call(self._loop.close)
            if self._thread is not None:
                self._thread.shutdown()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._call(partial(self._loop.run, work))

    def _call(self, function: Callable[[], T]) -> T:
        return function() if self._thread is None else self._thread.submit(function).result()

    def _act(self, work: Coroutine[Any, Any, None]) -> None:
        self._run(self._acted(work))

    async def _acted(self, work: Coroutine[Any, Any, None]) -> None:
        """Stop where ``settle`` goes on: else the loop's last turn shows the scheduler a new node
        before its kubelet has come to it."""
        await work
        await give_way()
        self.simulated.clock.advance(0)

    # --- what a user does ------------------------------------------------------------------------

    def create(self, *objects: ApiObject | Json) -> None:
        """Create what the builders make, or manifests; in ``default`` unless they say otherwise."""
        self._act(self.simulated.create(*objects))

    def update(self, kind: str, name: str, change: Change) -> None:
        """``change`` alters the object that it is given: ``cluster.update("nodes", "a", cordon)``.

        A ``name`` may have a namespace before it: ``other/web``.
        """
        self._act(self.simulated.update(kind, name, change))

    def set_status(self, kind: str, name: str, change: Change) -> None:
        """As ``update``, of the status."""
        self._act(self.simulated.set_status(kind, name, change))

    def delete(self, kind: str, name: str, **options: Any) -> None:
        self._act(self.simulated.delete(kind, name, **options))

    # --- what a user sees ------------------------------------------------------------------------

    def get(self, kind: str, name: str) -> Json | None:
        """Return the object as the API server has it; ``None`` if it has none."""
        return self.simulated.get(kind, name)

    def list(self, kind: str, namespace: str | None = None) -> builtins.list[Json]:
        """Return all objects of a kind, or those of a namespace: ``cluster.list("pods")``."""
        return self.simulated.list(kind, namespace)

    def node_of(self, pod: str) -> str | None:
        """Return the node that the pod is bound to; ``LookupError`` when there is no such pod."""
        return self.simulated.node_of(pod)

    def why_pending(self, pod: str) -> str:
        """Return what the pod's condition says about why it has no node; nothing when it has one.

        ``LookupError`` when there is no such pod.
        """
        return self.simulated.why_pending(pod)

    def events_of(self, pod: str) -> builtins.list[Json]:
        """The events about a pod, oldest first."""
        return self.simulated.events_of(pod)

    # --- time ------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let everything happen that can without time passing."""
        self._run(self.simulated.settle())

    def wait(self, seconds: float) -> None:
        """Let time pass, and everything happen at its time; the test itself waits for nothing."""
        self._run(self.simulated.wait(seconds))


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _read(written: Written | None, registry: Registry) -> Configuration:
    if written is None:
        return config.default(registry)
    if isinstance(written, Mapping):
        return config.from_value(dict(written), registry, versions=VERSIONS)
    return config.load_file(written, registry, versions=VERSIONS)
