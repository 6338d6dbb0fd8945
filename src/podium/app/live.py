"""A running scheduler built from a configuration and a connection to a cluster."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from podium import extender
from podium.api.objects import Node, Pod
from podium.app.core import Core, in_tree_with_legacy, no_queue
from podium.app.exchange import Exchange, rules_of, watched
from podium.app.gated import USUAL, LiveOptions
from podium.app.profiles import ProfileBuilder
from podium.client.api_client import ApiClient
from podium.client.endpoint import Endpoint
from podium.client.event_recorder import ApiEventRecorder, EventSender
from podium.client.http import Connection, Options
from podium.client.kept_json import keeping_json
from podium.client.resources import NODES, PODS, Resource
from podium.clock import Clock
from podium.config.model import Configuration
from podium.cycle.extenders import Extenders
from podium.cycle.pod_classes import PodClasses
from podium.cycle.services import Services
from podium.framework.extender import Extender
from podium.framework.registry import Registry
from podium.framework.waiting_pods import WaitingPods
from podium.live.debugger import Debugger
from podium.live.event_handlers import EventHandlers
from podium.live.failure import FailureHandler
from podium.live.gate import Gate
from podium.live.gauges import Gauges
from podium.live.loop_thread import LoopThread
from podium.live.pod_status import PodStatuses
from podium.live.running import RunningScheduler
from podium.live.scheduler import Scheduler
from podium.live.slices import Slices
from podium.live.tasks import Tasks
from podium.live.watching import Watching
from podium.metrics import Metrics
from podium.queue.rules import ProfileRules
from podium.queue.scheduling_queue import QueueOptions, SchedulingQueue
from podium.state.cluster import ClusterState


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
    """A scheduler for the cluster behind a connection; to be called on its event loop.

    ``extenders`` run in this process, beside those that the configuration names.
    """
    live = _Live(configuration, connection, metrics or Metrics(), options)
    configured = extender.build(configuration.extenders, connection.clock)
    live.services.extenders = Extenders((*configured, *extenders), configuration.parallelism)
    return live.build(registry or in_tree_with_legacy(), slices or Slices())


def embedded_connection(url: str, clock: Clock) -> Connection:
    """To an API server in this process: no credentials, and no limit on requests."""
    return Connection(Endpoint(url, "the embedded cluster"), clock, Options(qps=-1))


class _Live:
    """The parts that the parts of a running scheduler share, while it is put together."""

    def __init__(
        self,
        configuration: Configuration,
        connection: Connection,
        metrics: Metrics,
        options: LiveOptions,
    ) -> None:
        self.configuration = configuration
        self.options = options
        self.connection = connection
        self.metrics = metrics
        self.clock = options.clock or connection.clock
        self.client = ApiClient(connection, self.clock)
        self.gate = Gate()
        self.thread = LoopThread()
        self.background = Tasks(self.clock)
        names = [profile.scheduler_name for profile in configuration.profiles]
        self.for_events = connection.beside()  # a burst of events must not hold bindings back
        self.events = EventSender(ApiClient(self.for_events, self.clock), self.clock)
        self.recorders = {name: ApiEventRecorder(self.events, name) for name in names}
        cluster = ClusterState()
        self.services = Services(
            cluster=cluster,
            pod_classes=PodClasses(cluster, enabled=options.reuses),
            seed=random.getrandbits(32),
            waiting_pods=WaitingPods(self.thread.call),
            clock=self.clock,
            client=self.client,
            events=self.recorders[names[0]],
            metrics=metrics,
            spawn=self.background.spawn,
            activate=no_queue,  # until there is one
        )
        builder = ProfileBuilder(self.services, self.recorders, metrics)
        self.core = Core(self.services, builder)

    def build(self, registry: Registry, slices: Slices) -> RunningScheduler:
        self.core.adopt(self.core.builder.draft(self.configuration, registry))
        profiles = self.core.profiles
        rules = rules_of(profiles, has_extenders=bool(self.services.extenders))
        queue = self._queue(rules)
        self.services.activate = lambda pods: self.thread.call(
            self.gate.pass_through, queue.activate, tuple(pods)
        )
        handlers = EventHandlers(self.gate, self.services, queue, profiles, self.metrics)
        names = (*watched(profiles, rules), *self.services.listed)
        watching = Watching(self.connection, handlers, names, self._nodes_and_pods())
        self.services.custom = watching.custom
        scheduler = self._scheduler(queue, watching, slices)
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
            exchange=Exchange(
                core=self.core,
                gate=self.gate,
                queue=queue,
                watching=watching,
                bindings=scheduler.bindings,
            ),
            watches=Tasks(self.clock),
            background=self.background,
        )

    def _nodes_and_pods(self) -> tuple[Resource[Node], Resource[Pod]]:
        """Extenders get whole objects, so their JSON is kept: of placed pods if they may go."""
        extenders = self.services.extenders.all
        if not extenders:
            return NODES, PODS
        if any(each.supports_preemption for each in extenders):
            return keeping_json(NODES), keeping_json(PODS)
        return keeping_json(NODES), keeping_json(PODS, lambda pod: not pod.node_name)

    def _queue(self, rules: Mapping[str, ProfileRules]) -> SchedulingQueue:
        options = QueueOptions(
            initial_backoff=self.configuration.pod_initial_backoff_seconds,
            max_backoff=self.configuration.pod_max_backoff_seconds,
            max_in_unschedulable=self.options.max_in_unschedulable,
        )
        queue = self.options.queue
        return queue(self.clock, rules, self.services.nominator, options, self.metrics)

    def _scheduler(self, queue: SchedulingQueue, watching: Watching, slices: Slices) -> Scheduler:
        services, gate, events, metrics = self.services, self.gate, self.recorders, self.metrics
        statuses = PodStatuses(self.client)
        return Scheduler(
            services=services,
            queue=queue,
            gate=gate,
            binder=self.options.binder(services, queue, gate, statuses, events, metrics),
            failures=FailureHandler(services, queue, statuses, events, metrics, watching.pod),
            bindings=Tasks(self.clock),
            slices=slices,
            events=events,
            metrics=metrics,
            calls=self.core.builder.calls,
            start_cycle=self.core.start_cycle,
        )
