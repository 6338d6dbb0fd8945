"""Trials with gangs and quotas: GenericWorkload, Coscheduling, CapacityScheduling."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import ClassVar, Final

from podium.apiserver.api import Call
from podium.chaos import gangs, plugins, witness
from podium.chaos.gangs import LABELLED_TIMEOUT_SECONDS
from podium.chaos.group_invariants import GroupInvariants, GroupWorld
from podium.chaos.invariants import Invariants, Json, World
from podium.chaos.report import Waits
from podium.chaos.script import Script, Step
from podium.chaos.trial import Trial, configuration_with, pod_of
from podium.clock import FakeClock, sleep
from podium.config import Configuration
from podium.config.feature_gates import FeatureGates, parse
from podium.live.running import RunningScheduler
from podium.scheduler_plugins.definitions import definitions

_COSCHEDULING: Final = "Coscheduling"
_QUOTAS: Final = "CapacityScheduling"
# How long Permit may hold a member: the plugins' own limits, and the time a host may be frozen.
_LONGEST_HOLD: Final = {True: 300.0 + 60.0, False: LABELLED_TIMEOUT_SECONDS + 60.0}
# Every pod is tried after five minutes; a failover and a wrong clock may come on top.
_LONGEST_WAIT: Final = 600.0


class GroupTrial(Trial):
    """A trial whose script has gangs.

    ``_created`` has the step that created each gang, until it is deleted. ``_holds`` measures how
    long members wait at Permit.
    """

    gates: ClassVar[FeatureGates] = parse(["GenericWorkload=true"])
    judge: ClassVar[type[Invariants]] = GroupInvariants
    world: ClassVar[type[World]] = GroupWorld

    def __init__(self, script: Script, clock: FakeClock) -> None:
        super().__init__(script, clock)
        self._created: dict[str, Step] = {}
        self._holds = Waits()

    def _configuration(self) -> Configuration:
        witness.register(self._registry, self._invariants.fail)
        enabled = {
            "multiPoint": [_COSCHEDULING, _QUOTAS, witness.NAME, plugins.NAME],
            "queueSort": [_COSCHEDULING],
            "postFilter": [_QUOTAS, _COSCHEDULING],
        }
        settings = {"leaderElection": self.election}
        return configuration_with(enabled, settings, self._registry, self.gates)

    def _prepare(self) -> None:
        for each in (*definitions((_COSCHEDULING, _QUOTAS)), *gangs.first_objects(self._seed)):
            self._create(each)

    # --- steps -----------------------------------------------------------------------------------

    async def _take(self, step: Step) -> None:
        match step.what:
            case "create-gang" | "create-labelled-gang":
                await self._create_gang(step)
            case "delete-gang":
                self._delete_gang(step)
            case "replace-member":
                self._replace_member(step)
            case "set-minimum":
                self._set_minimum(step)
            case "open-gates":
                self._open_gates(step)
            case _:
                await super()._take(step)

    async def _create_gang(self, step: Step) -> None:
        self._created[step.key] = step
        self._create(gangs.group_of(step))
        for number in range(step.count):
            if step.key not in self._created:
                return
            self._create_member(step, f"{step.name}-{number}")
            if step.seconds:
                await sleep(self._clock, step.seconds / step.count)

    def _create_member(self, step: Step, name: str) -> None:
        pod = pod_of(step)
        pod["metadata"]["name"] = name
        self._create(gangs.join(pod, step))

    def _members(self, step: Step) -> list[str]:
        pods = self._api.store.objects("pods", step.namespace)
        of = ((pod, gangs.gang_of(pod)) for pod in pods)
        return [pod["metadata"]["name"] for pod, gang in of if gang and gang[1] == step.key]

    def _delete_gang(self, step: Step) -> None:
        for name in self._members(step):
            self._delete_member(step, name)
        created = self._created.pop(step.key, None)
        if created is not None:
            key = (step.namespace, step.name)
            self._try(lambda: self._delete(gangs.resource_of(created), key))

    def _delete_member(self, step: Step, name: str) -> None:
        self._try(lambda: self._delete("pods", (step.namespace, name)))

    def _replace_member(self, step: Step) -> None:
        created, members = self._created.get(step.key), self._members(step)
        if created is not None and members:
            self._delete_member(step, Random(step.seed).choice(members))
            self._create_member(created, f"{step.name}-new{step.seed}")

    def _set_minimum(self, step: Step) -> None:
        def change(group: Json) -> Json:
            gangs.set_minimum(group, step.minimum)
            return group

        created = self._created.get(step.key)
        if created is not None:
            self._modify(gangs.resource_of(created), (step.namespace, step.name), change)

    def _open_gates(self, step: Step) -> None:
        def change(pod: Json) -> Json:
            pod["spec"].pop("schedulingGates", None)
            return pod

        for name in self._members(step):
            self._modify("pods", (step.namespace, name), change)

    def _modify(self, kind: str, key: tuple[str, str], change: Callable[[Json], Json]) -> None:
        self._try(lambda: self._api.modify(self._api.kind(kind), key, change, Call()))

    # --- checks ----------------------------------------------------------------------------------

    def _look_at(self, world: World) -> None:
        super()._look_at(world)
        for name, seconds in self._waits.lasted.items():
            if seconds > _LONGEST_WAIT:
                self._fail_once("no pod starves", f"{name} fits since {seconds:.0f} s")
        waiting = {
            f"{id(each)} {one.pod.key}": bool(one.pod.group_key)
            for each in self._schedulers()
            for one in each.scheduler.services.waiting_pods
            if one.outcome is None
        }
        for name, seconds in self._holds.look(self._clock.now(), waiting).items():
            if seconds > _LONGEST_HOLD[waiting[name]]:
                self._fail_once("nobody is held for ever", name.partition(" ")[2])

    def _fail_once(self, invariant: str, detail: str) -> None:
        known = {violation.invariant for violation in self._invariants.violations}
        if invariant not in known:
            self._invariants.fail(invariant, detail)

    async def _calm(self) -> None:
        """Wait for calm, and until no member of a gang is held: one may be in an attempt now."""
        await super()._calm()
        for _ in range(2 * LABELLED_TIMEOUT_SECONDS):
            if not any(len(each.scheduler.services.waiting_pods) for each in self._schedulers()):
                return
            await sleep(self._clock, 1.0)

    def _check_settled(self, running: RunningScheduler, bound: set[str]) -> None:
        super()._check_settled(running, bound)
        world = self.world(self._api)
        pending = {pod["metadata"]["uid"] for pod in world.pending}
        nominator = running.scheduler.services.nominator
        left = [info.key for node in world.nodes for info in nominator.on(node)
                if info.uid not in pending]  # fmt: skip
        if left:
            self._invariants.fail("nothing is nominated that does not wait", ", ".join(left))
