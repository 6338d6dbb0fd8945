"""Asks a running scheduler for what its dashboard shows; `podium top` and `podium demo` use it."""

from __future__ import annotations

from typing import Any, Final, TypeVar
from urllib.parse import quote
from urllib.request import OpenerDirector

import msgspec

from podium.cli.explain_answers import NodeAnswer, PodAnswer
from podium.cli.scheduler_client import SchedulerClient
from podium.dashboard.links import ROOT
from podium.dashboard.values import NodeMap, Overview, PendingBoard
from podium.errors import NoScheduler, PodiumError
from podium.live.answer_values import NodeRecords, PodRecords
from podium.serve.sources import Source

V = TypeVar("V")

_LET_IN: Final = (
    "a link works once, and a token needs the right to get /dashboard/* (docs/dashboard.md)"
)
_SERVE_IT: Final = "start the scheduler with --dashboard"
_TIMEOUT_SECONDS: Final = 20.0  # the first explanation starts a process


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler at one moment: its overview, its pending pods by reason, all nodes."""

    overview: Overview
    pending: PendingBoard
    map: NodeMap


class DashboardClient(SchedulerClient):
    """The dashboard of one scheduler.

    ``key`` is the one that makes its links, or a bearer token for the secure port.
    """

    def __init__(
        self,
        address: str,
        key: str,
        timeout: float = _TIMEOUT_SECONDS,
        opener: OpenerDirector | None = None,
    ) -> None:
        super().__init__(address, timeout)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._opener = opener or self._opener

    def look(self) -> Look:
        return Look(
            overview=self.overview(),
            pending=self._ask("pending", PendingBoard),
            map=self.node_map(),
        )

    def overview(self) -> Overview:
        return self._ask("overview", Overview)

    def node_map(self) -> NodeMap:
        return self._ask("map", NodeMap)

    def explain_pod(self, key: str) -> PodAnswer:
        """Return what ``podium explain pod`` answers; raise ``PodiumError`` if it cannot."""
        from podium.explain import Explanation  # slow to load, and only needed for answers

        found = self._ask(f"pods/{quote(key)}", dict[str, Any])
        return PodAnswer(
            msgspec.convert(found["source"], Source),
            msgspec.convert(found["explanation"], Explanation | None),
            msgspec.convert(found["records"], PodRecords | None),
        )

    def explain_node(self, name: str) -> NodeAnswer:
        """Return what ``podium explain node`` answers; raise ``PodiumError`` if it cannot."""
        from podium.explain import NodeExplanation

        found = self._ask(f"nodes/{quote(name, safe='')}", dict[str, Any])
        return NodeAnswer(
            msgspec.convert(found["source"], Source),
            msgspec.convert(found["explanation"], NodeExplanation | None),
            msgspec.convert(found["records"], NodeRecords | None),
        )

    def _ask(self, path: str, shape: type[V]) -> V:
        found: V = self._read(f"{ROOT}api/{path}", shape)
        return found

    def _refusal(self, code: int, body: bytes) -> PodiumError:
        if code in (401, 403):
            return NoScheduler(f"{self.address} does not let this user in; {_LET_IN}")
        found = super()._refusal(code, body)
        if code == 404 and isinstance(found, NoScheduler):  # not about a pod or node
            return NoScheduler(f"{self.address} has no dashboard; {_SERVE_IT}")
        return found
