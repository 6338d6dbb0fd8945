"""How an attempt ends: Placed or Rejected."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from podium.cycle.record import Record
from podium.framework.binding import Target
from podium.framework.diagnosis import Diagnosis, NodeStatuses
from podium.framework.status import CLEAR, Nominate, Status
from podium.state.cluster import ClusterState
from podium.state.node_table import NodeRef


class Placed(NamedTuple):
    """The pod is assumed on a node; ``status`` is Wait when Permit holds it back."""

    target: Target
    node: NodeRef
    status: Status
    record: Record

    @property
    def node_name(self) -> str:
        return self.node.name


@dataclass(frozen=True, slots=True)
class Rejected:
    """No node for now. ``diagnosis`` is there when nodes were judged.

    ``nominate`` says what becomes of the pod's nomination: ``None`` leaves it. ``failed_as``
    names the pod's equivalence class if this attempt would have rejected every pod of it.
    """

    status: Status
    record: Record
    diagnosis: Diagnosis | None = None
    nominate: Nominate | None = None
    post_filter: Status | None = None  # what PostFilter answered, where it was asked
    failed_as: Hashable = None

    @property
    def message(self) -> str:
        return self.diagnosis.message if self.diagnosis is not None else self.status.message


Outcome = Placed | Rejected


def failed(status: Status, record: Record) -> Rejected:
    """End an attempt with an error, or with a rejection that no plugin is blamed for.

    The pod is retried as after an error in both cases.
    """
    record.message = status.message
    return Rejected(status, record, None, CLEAR)


def refused(status: Status, record: Record, cluster: ClusterState) -> Rejected:
    """End an attempt whose chosen node Reserve or Permit refused, or where one of them failed.

    A refusal counts as that of the one node that was left: events of its plugin wake the pod.
    """
    if not status.is_rejection:
        return failed(status, record)
    diagnosis = Diagnosis(1, NodeStatuses.none(cluster.rows(), status))
    diagnosis.blame(status)
    record.message = diagnosis.message
    reason = Status(status.code, (diagnosis.message,), status.plugin)
    return Rejected(reason, record, diagnosis, CLEAR)
