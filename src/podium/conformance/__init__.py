"""Replays recorded decisions of kube-scheduler through podium's own core.

``read`` files into cases, ``replay_all`` them in a ``CoreBuilder``, and make a ``Report``.
"""

from podium.conformance.core import Core, CoreBuilder
from podium.conformance.outcome import Difference, LeftOut, Outcome
from podium.conformance.reader import read, select
from podium.conformance.replay import replay, replay_all
from podium.conformance.report import Gap, Report

__all__ = [
    "Core",
    "CoreBuilder",
    "Difference",
    "Gap",
    "LeftOut",
    "Outcome",
    "Report",
    "read",
    "replay",
    "replay_all",
    "select",
]
