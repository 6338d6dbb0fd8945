"""An API that is slow, loses answers and is out of step with its own watch; and fake time for it.

Everything is decided by a seed and happens on a fake clock, so a failure can be repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from random import Random
from typing import Any, TypeVar

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from podium.clock import FakeClock, sleep
from podium.errors import ApiError, Conflict, NotFound
from podium.state.cluster import ClusterState

T = TypeVar("T", bound=ApiObject)

SLOWEST = 20.0


def replaced(obj: T, path: str, value: Any) -> T:
    """The object with one field changed: ``replaced(volume, "spec.claim_ref", ref)``."""
    first, _, rest = path.partition(".")
    inner = replaced(getattr(obj, first), rest, value) if rest else value
    return msgspec.structs.replace(obj, **{first: inner})


class FaultyApi:
    """The objects as they really are. Every change has a new version and an echo on the watch.

    ``calm()`` ends the faults: from then on requests succeed and echoes come at once.
    """

    def __init__(self, seed: int, clock: FakeClock) -> None:
        self.random = Random(seed)
        self.clock = clock
        self.cluster = ClusterState()  # what the watch tells; a core brings its own
        self.is_faulty = True
        self.stored: dict[tuple[type[ApiObject], str], Any] = {}
        self.problems: list[str] = []  # what must never be asked of an API
        self._version = 100

    def create(self, *objects: ApiObject) -> None:
        """Objects that were there before the trouble began: everybody knows them."""
        for obj in objects:
            self._tell(self._store(obj))

    def calm(self) -> None:
        """End the trouble, and let the watch list everything anew."""
        self.is_faulty = False
        self.relist()

    def relist(self) -> None:
        """What a reflector does after it lost the thread: it lists all there is."""
        for kind in (PersistentVolume, PersistentVolumeClaim):
            known = {obj.key for obj in self.cluster.objects(kind)}
            for key in known - {key for stored, key in self.stored if stored is kind}:
                self.cluster.remove_object(kind, key)
        for obj in list(self.stored.values()):
            self._tell(obj)

    def all(self, kind: type[T]) -> list[T]:
        return [obj for (stored, _), obj in self.stored.items() if stored is kind]

    def find(self, kind: type[T], key: str) -> T | None:
        return self.stored.get((kind, key))

    # --- changes and their echoes ----------------------------------------------------------------

    def change(self, obj: ApiObject, **fields: Any) -> Any:
        """Write these fields (``spec__claim_ref=…``) of an object as it is now."""
        current = self.stored[type(obj), obj.key]
        for path, value in fields.items():
            current = replaced(current, path.replace("__", "."), value)
        current = self._store(current)
        self._echo(lambda: self._tell(current))
        return current

    def remove(self, obj: ApiObject) -> None:
        if self.stored.pop((type(obj), obj.key), None) is not None:
            self._echo(lambda: self._tell_gone(obj))

    def _store(self, obj: T) -> T:
        self._version += 1
        obj = replaced(obj, "metadata.resource_version", str(self._version))
        self.stored[type(obj), obj.key] = obj
        return obj

    def _echo(self, tell: Callable[[], None]) -> None:
        """At once, late, twice or never; delays that differ put echoes out of order."""
        how = self.random.choice(("now", "now", "late", "late", "twice", "never"))
        if how in ("now", "twice") or not self.is_faulty:
            self.clock.call_later(0, tell)
        if how in ("late", "twice") and self.is_faulty:
            self.clock.call_later(self.random.uniform(0, SLOWEST), tell)

    def _tell(self, obj: ApiObject) -> None:
        if not isinstance(obj, Pod):
            self.cluster.set_object(obj)

    def _tell_gone(self, obj: ApiObject) -> None:
        if not isinstance(obj, Pod):
            self.cluster.remove_object(type(obj), obj.key)
        elif obj.uid in self.cluster.pods:
            self.cluster.remove_pod(obj)

    # --- requests --------------------------------------------------------------------------------

    async def request(self, obj: ApiObject, carry_out: Callable[[Any], T]) -> T:
        """Perhaps slow, perhaps in vain, and perhaps carried out although it seems to have failed.

        Somebody else may change or delete the object just before.
        """
        trouble = self.random.choice(_TROUBLES) if self.is_faulty else ""
        try:
            if self.is_faulty:
                await sleep(self.clock, self.random.choice((0, 0, self.random.uniform(0, 5))))
        except asyncio.CancelledError:
            if trouble == "cut off":
                self._attempt(obj, carry_out)  # it was on its way already
            raise
        if trouble == "refused":
            raise ApiError("the server is overloaded")
        if trouble == "touched" and self.find(type(obj), obj.key) is not None:
            self.change(obj, metadata__labels={"touched": str(self._version)})
        if trouble == "deleted" and not self._is_protected(obj):
            self.remove(obj)
        answer = self._attempt(obj, carry_out)
        if isinstance(answer, Exception):
            raise answer
        if trouble == "no answer":
            raise ApiError("the connection was reset")
        return answer

    def _is_protected(self, obj: ApiObject) -> bool:
        """What is bound is not deleted while it is in use."""
        match self.stored.get((type(obj), obj.key)):
            case PersistentVolume(spec=spec):
                return spec.claim_ref is not None
            case PersistentVolumeClaim(spec=spec):
                return bool(spec.volume_name)
        return False

    def _attempt(self, obj: ApiObject, carry_out: Callable[[Any], T]) -> T | Exception:
        current = self.stored.get((type(obj), obj.key))
        if current is None:
            return NotFound(f"{type(obj).__name__} {obj.key} is gone", 404)
        try:
            return carry_out(current)
        except Conflict as conflict:
            return conflict


_TROUBLES = ("", "", "", "", "refused", "no answer", "cut off", "touched", "deleted")


class FaultyClient:
    """The client of a faulty API. It keeps its promises, and nothing beyond them."""

    def __init__(self, api: FaultyApi) -> None:
        self._api = api
        self.deleted: list[str] = []  # uids, in order

    async def bind(self, pod: Pod, node_name: str) -> None:
        await self._api.request(pod, lambda current: current)

    async def delete_pod(self, pod: Pod) -> None:
        def carry_out(current: Pod) -> Pod:
            self._api.remove(current)
            self.deleted.append(current.uid)
            return current

        await self._api.request(pod, carry_out)

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        await self._api.request(pod, lambda current: current)

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        await self._api.request(pod, lambda current: current)

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        def carry_out(current: PersistentVolume) -> PersistentVolume:
            _require_version(current, volume)
            self._check_binding(current, claim)
            merged = {**current.annotations, **annotations}
            return self._api.change(current, spec__claim_ref=claim, metadata__annotations=merged)

        return await self._api.request(volume, carry_out)

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        def carry_out(current: PersistentVolumeClaim) -> PersistentVolumeClaim:
            _require_version(current, claim)
            for key in annotations.keys() & current.annotations.keys():
                self._api.problems.append(f"{claim.key} has {key} already")
            merged = {**current.annotations, **annotations}
            return self._api.change(current, metadata__annotations=merged)

        return await self._api.request(claim, carry_out)

    async def read(self, kind: type[T], key: str) -> T:
        if self._api.is_faulty and self._api.random.random() < 0.5:
            raise ApiError("the server is overloaded")
        found = self._api.find(kind, key)
        if found is None:
            raise NotFound(f"{kind.__name__} {key} is gone", 404)
        return found

    def _check_binding(self, volume: PersistentVolume, claim: ObjectReference) -> None:
        """A claim gets one volume, and a volume one claim."""
        problems = self._api.problems
        if volume.spec.claim_ref is not None and volume.spec.claim_ref.uid not in ("", claim.uid):
            problems.append(f"{volume.name} is taken away from its claim")
        for other in self._api.all(PersistentVolume):
            ref = other.spec.claim_ref
            if other.name != volume.name and ref is not None and ref.uid == claim.uid:
                problems.append(f"{claim.name} gets {volume.name} although it has {other.name}")


def _require_version(current: ApiObject, base: ApiObject) -> None:
    if current.metadata.resource_version != base.metadata.resource_version:
        raise Conflict(f"{current.key} has been modified", 409)


class Time:
    """Runs tasks on the fake clock: when all of them wait, time moves on to the next call."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.tasks.add(task)

    async def run_out(self, limit: float = 10_000.0) -> None:
        """Until all tasks are done; by then every echo has come that will ever come."""
        end = self.clock.now() + limit
        await self.settle()
        while self.tasks and self.clock.now() < end:
            await self.step()
        assert not self.tasks, [task.get_name() for task in self.tasks]
        self.clock.advance(SLOWEST)

    async def step(self) -> None:
        """Go on to the next moment at which something happens."""
        self.clock.advance(self.clock.until_next() or 0)
        await self.settle()

    async def settle(self, rounds: int = 12) -> None:
        """Let everything run that can without time passing."""
        for _ in range(rounds):
            await asyncio.sleep(0)
        self._collect()

    def _collect(self) -> None:
        for task in [task for task in self.tasks if task.done()]:
            self.tasks.remove(task)
            task.result()  # what a task raises is a failure of the test
