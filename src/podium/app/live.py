"""A running scheduler built from a configuration and a connection to a cluster."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import podium.cel  # noqa: F401  # for selectors of devices: loaded when asked it delays a cycle
from podium import extender
from podium.api.objects import Node, Pod
from podium.api.resources import request_rule
from podium.app.core import Core
from podium.app.feature_gates import USUAL, LiveOptions
from podium.app.group_cycles import group_parts
from podium.app.ignored_fields import watched_nodes, watched_pods
from podium.app.own_plugins import device_rules, in_tree_with_legacy
from podium.app.plugin_reloading import Exchange
from podium.app.profiles import ProfileBuilder, report_unsigned
from podium.app.queue_rules import rules_of, watched
from podium.client.api_client import ApiClient
from podium.client.endpoint import Endpoint
from podium.client.event_recorder import ApiEventRecorder, EventSender
from podium.client.http import Connection, Options
from podium.client.resources import Resource, keeping_json
from podium.clock import Clock
from podium.config.model import Configuration
from podium.cycle.extenders import Extenders
from podium.cycle.pod_classes import PodClasses
from podium.cycle.record import Records, usual_budget
from podium.cycle.services import KindObjects, Services
from podium.framework.event_rules import EventRules, event_rules
from podium.framework.extender import Extender
from podium.framework.handle import Client, PodHandler
from podium.framework.registry import Registry
from podium.framework.waiting_pods import WaitingPods
from podium.live.api_dispatcher import ApiDispatcher, DispatchedStatuses, DispatchingClient
from podium.live.debugger import Debugger
from podium.live.event_handlers import EventHandlers
from podium.live.event_loop import LoopThread
from podium.live.failure import FailureHandler
from podium.live.gate import Gate
from podium.live.gauges import Gauges
from podium.live.group_scheduler import GroupScheduler
from podium.live.group_status import GroupStatuses
from podium.live.introspection import Introspection
from podium.live.pod_status import PodStatuses
from podium.live.running import Companion, RunningScheduler
from podium.live.scheduler import Scheduler
from podium.live.slices import Slices
from podium.live.tasks import Tasks
from podium.live.watching import Watching
from podium.metrics import Metrics
from podium.queue.options import QueueOptions
from podium.queue.rules import ProfileRules
from podium.queue.scheduling_queue import SchedulingQueue
from podium.status_controllers import Shared, status_controllers


def build_live(  # noqa: PLR0913  # all that a scheduler can be given, each by its name
    configuration: Configuration,
    connection: Connection,
    *,
    registry: Registry | None = None,
    metrics: Metrics | None = None,
    slices: Slices | None = None,
    extenders: Iterable[Extender] = (),
    options: LiveOptions = USUAL,
) -> RunningScheduler:
    """Build a scheduler for the cluster behind a connection; call this on its event loop.

    ``extenders`` run in this process, beside those that the configuration names. The registry must
    be of the release in ``options``: half of the differences are decided by each.
    """
    registry = registry or in_tree_with_legacy(options.gates)
    if registry.release != options.gates.release:
        releases = f"plugins of {registry.release} with options of {options.gates.release}"
        raise ValueError(f"a scheduler behaves as one release: {releases}")
    metrics = metrics or Metrics(release=registry.release)
    configured = extender.build(configuration.extenders, connection.clock)
    all_extenders = Extenders((*configured, *extenders), configuration.parallelism)
    live = _Live(configuration, connection, metrics, options, all_extenders)
    return live.build(registry, slices or Slices())


def embedded_connection(url: str, clock: Clock) -> Connection:
    """Return a connection to an API server in this process: no credentials, no rate limit."""
    return Connection(Endpoint(url, "the embedded cluster"), clock, Options(qps=-1))


class _Live:
    """Shared parts of a scheduler under construction.

    Plugins and the queue need one another: plugins activate pods, and the queue asks plugins. The
    same holds for plugins and what is watched. So plugins get functions that look up the queue and
    the watches when they are called.
    """

    queue: SchedulingQueue
    watching: Watching | None = None

    def __init__(
        self,
        configuration: Configuration,
        connection: Connection,
        metrics: Metrics,
        options: LiveOptions,
        extenders: Extenders,
    ) -> None:
        self.configuration = configuration
        self.options = options
        self._followers: list[PodHandler] = []
        self.connection = connection
        self.metrics = metrics
        self.clock = options.clock or connection.clock
        self.gate = Gate()
        self.thread = LoopThread()
        self.background = Tasks(self.clock)
        self._build_writes(options.client(connection, self.clock))
        names = [profile.scheduler_name for profile in configuration.profiles]
        self.for_events = connection.for_notes()
        self.events = EventSender(ApiClient(self.for_events, self.clock), self.clock)
        self.recorders = {name: ApiEventRecorder(self.events, name) for name in names}
        cluster = options.cluster(request_rule(options.gates.release))
        self.services = Services(
            cluster=cluster,
            pod_classes=PodClasses(cluster, enabled=options.reuses),
            records=Records(budget=usual_budget()),
            seed=random.getrandbits(32) if options.seed is None else options.seed,
            waiting_pods=WaitingPods(self.thread.call),
            clock=self.clock,
            client=self.client,
            events=self.recorders,
            extenders=extenders,
            metrics=metrics,
            spawn=self.background.spawn,
            activate=self._activate,
            objects_of=self._objects_of,
            follow_pods=self._follow_pods,
            device_rules=device_rules(options.gates),
        )

    def _build_writes(self, client: ApiClient) -> None:
        """Build what writes about pods: at once, or through a dispatcher."""
        self.client: Client = client
        self.group_client = client
        self.statuses = PodStatuses(client)
        self.dispatcher: ApiDispatcher | None = None
        if self.options.dispatches_calls:
            spawn = self.background.spawn
            self.dispatcher = ApiDispatcher(client, self.clock, self.metrics, spawn)
            dispatched = self.statuses = DispatchedStatuses(client, self.dispatcher)
            self.client = DispatchingClient(client, self.dispatcher, dispatched)

    def _activate(self, pods: Iterable[Pod]) -> None:
        self.thread.call(self.gate.pass_through, self.queue.activate, tuple(pods))

    def _objects_of(self, resource: str) -> KindObjects | None:
        return None if self.watching is None else self.watching.custom(resource)

    def _follow_pods(self, handler: PodHandler) -> Callable[[], None]:
        if self.watching is None:
            self._followers.append(handler)
        else:
            self.watching.follow_pods(handler)
        return lambda: self._leave_pods(handler)

    def _leave_pods(self, handler: PodHandler) -> None:
        if self.watching is None:
            self._followers.remove(handler)
        else:
            self.watching.leave_pods(handler)

    def build(self, registry: Registry, slices: Slices) -> RunningScheduler:
        builder = ProfileBuilder(self.services, self.metrics)
        core = Core(self.services, builder, builder.draft(self.configuration, registry))
        profiles = core.profiles
        report_unsigned(profiles.values())
        events = event_rules(registry.release)
        rules = rules_of(profiles, self.services, events)
        queue = self.queue = self._queue(rules, events)
        handlers = self.options.handlers(
            self.gate, self.services, queue, profiles, self.metrics, events
        )
        names = (*watched(profiles, rules), *self.services.listed, *self.options.watched)
        watching = self._watch(handlers, names)
        scheduler = self._scheduler(core, watching, slices)
        gauges = Gauges(self.metrics, self.clock, queue, self.services.cluster)
        gauges.follow(scheduler.bindings, scheduler.calls)
        return RunningScheduler(
            scheduler=scheduler,
            gauges=gauges,
            watching=watching,
            events=self.events,
            for_events=self.for_events,
            profiles=profiles,
            debugger=Debugger(self.services.cluster, queue, self.services.nominator, watching),
            introspection=self._introspection(core, watching, registry),
            exchange=Exchange(
                core=core,
                gate=self.gate,
                queue=queue,
                watching=watching,
                bindings=scheduler.bindings,
            ),
            watches=Tasks(self.clock),
            background=self.background,
            companions=self._companions(watching),
        )

    def _watch(self, handlers: EventHandlers, names: Iterable[str]) -> Watching:
        """Watch nodes, pods and the kinds of these names, for all who follow pods."""
        watching = self.watching = Watching(
            self.connection, handlers, names, self._nodes_and_pods(), self.options.resources_by_kind
        )
        for follower in self._followers:
            watching.follow_pods(follower)
        if self.dispatcher is not None:
            watching.follow_pods(self.dispatcher.on_pod)
        return watching

    def _introspection(self, core: Core, watching: Watching, registry: Registry) -> Introspection:
        return Introspection(
            services=self.services,
            queue=self.queue,
            known=watching,
            profiles=core.profiles,
            server=self.connection.endpoint.server,
            release=str(registry.release),
            configured=lambda: core.configuration,
        )

    def _companions(self, watching: Watching) -> Sequence[Companion]:
        client = ApiClient(self.connection, self.clock)
        shared = Shared(self.connection, client, self.events, watching)
        return status_controllers(enabled_plugins(self.configuration), shared)

    def _nodes_and_pods(self) -> tuple[Resource[Node], Resource[Pod]]:
        """Keep the JSON of objects for extenders; of placed pods only if they may be preempted."""
        extenders, gates = self.services.extenders.all, self.options.gates
        nodes, pods = watched_nodes(gates), watched_pods(gates)
        if not extenders:
            return nodes, pods
        if any(each.supports_preemption for each in extenders):
            return keeping_json(nodes), keeping_json(pods)
        return keeping_json(nodes), keeping_json(pods, lambda pod: not pod.node_name)

    def _queue(self, rules: Mapping[str, ProfileRules], events: EventRules) -> SchedulingQueue:
        given = self.options
        options = QueueOptions.of(
            self.configuration, events, given.max_in_unschedulable, given.has_composites
        )
        return given.queue(self.clock, rules, self.services.nominator, options, self.metrics)

    def _scheduler(self, core: Core, watching: Watching, slices: Slices) -> Scheduler:
        services, gate, events, metrics = self.services, self.gate, self.recorders, self.metrics
        queue, statuses = self.queue, self.statuses
        parts: dict[str, Any] = {
            "services": services,
            "queue": queue,
            "gate": gate,
            "binder": self.options.binder(services, queue, gate, statuses, events, metrics),
            "failures": FailureHandler(services, queue, statuses, events, metrics, watching.pod),
            "bindings": Tasks(self.clock),
            "slices": slices,
            "events": events,
            "metrics": metrics,
            "calls": core.builder.calls,
            "waits": bool(services.extenders) or self.options.evicts_in_cycle,
            "start_cycle": core.start_cycle,
            "tracer": self.options.tracer,
        }
        if not self.options.has_groups:
            return Scheduler(**parts)
        groups = GroupStatuses(self.group_client, self.background.spawn)
        return GroupScheduler(**parts, groups=groups, **group_parts(core, self.options, metrics))


def enabled_plugins(configuration: Configuration) -> set[str]:
    """Return the names of the plugins that run in any profile."""
    plans = (profile.plugins.values() for profile in configuration.profiles)
    return {name for plan in plans for names in plan for name in names}
