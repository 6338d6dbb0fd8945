"""How an attempt ends: Placed or Rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from podium.cycle.record import Record
from podium.framework.binding import Target
from podium.framework.diagnosis import Diagnosis
from podium.framework.status import Nominate, Status
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

    ``nominate`` says what becomes of the pod's nomination: ``None`` leaves it.
    """

    status: Status
    record: Record
    diagnosis: Diagnosis | None = None
    nominate: Nominate | None = None
    post_filter: Status | None = None  # what PostFilter answered, where it was asked

    @property
    def message(self) -> str:
        return self.diagnosis.message if self.diagnosis is not None else self.status.message


Outcome = Placed | Rejected
