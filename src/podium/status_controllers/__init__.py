"""Status of PodGroups and ElasticQuotas, as the controllers of scheduler-plugins write it.

The leading scheduler runs these beside its loop, if a profile enables the plugin that reads the
kind: nothing else has to be installed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from podium.client.api_client import ApiClient
from podium.client.event_recorder import EventSender
from podium.client.http import Connection
from podium.client.informer import Informer
from podium.live.watching import Watching
from podium.scheduler_plugins import CAPACITY_SCHEDULING, COSCHEDULING
from podium.status_controllers.reconciler import Reconciler


class Shared(NamedTuple):
    """The parts of a running scheduler that its controllers use."""

    connection: Connection
    client: ApiClient
    events: EventSender
    watching: Watching


def status_controllers(plugins: Collection[str], shared: Shared) -> list[Reconciler]:
    """Return the controllers for the kinds that these plugins read; they are imported here."""
    found: list[Reconciler] = []
    if COSCHEDULING in plugins:
        found += _of_pod_groups(shared)
    if CAPACITY_SCHEDULING in plugins:
        found += _of_elastic_quotas(shared)
    return found


def _of_pod_groups(shared: Shared) -> Iterator[Reconciler]:
    from podium.status_controllers.pod_groups import GROUPS, PodGroupStatuses, group_pods

    connection, client, _, watching = shared
    if (groups := watching.custom(GROUPS)) is not None:
        pods = Informer(connection, group_pods())
        yield PodGroupStatuses(groups, pods, client, connection.clock)


def _of_elastic_quotas(shared: Shared) -> Iterator[Reconciler]:
    from podium.status_controllers.elastic_quotas import QUOTAS, ElasticQuotaStatuses

    connection, client, events, watching = shared
    if (quotas := watching.custom(QUOTAS)) is not None:
        follow = watching.follow_pods
        yield ElasticQuotaStatuses(quotas, follow, client, events, connection.clock)
