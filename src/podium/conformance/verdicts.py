"""Recorded verdicts and our statuses in one form: for comparing, and for people."""

from __future__ import annotations

from typing import Any

from podium.conformance.cases import Verdict
from podium.framework.status import Code, Status

SUCCESS = Code.SUCCESS.value
ERROR = Code.ERROR.value


def recorded(verdict: Verdict) -> dict[str, Any]:
    return _form(verdict.code, verdict.plugin, verdict.reasons)


def ours(status: Status) -> dict[str, Any]:
    return _form(status.code.value, status.plugin, status.reasons)


def status_of(verdict: Verdict) -> Status:
    """The status that a verdict is the recording of."""
    return Status(Code(verdict.code), verdict.reasons, verdict.plugin)


def _form(code: str, plugin: str, reasons: tuple[str, ...]) -> dict[str, Any]:
    """Reasons are a multiset: some have no fixed order upstream."""
    parts = {"code": code, "plugin": plugin, "reasons": sorted(reasons)}
    return {key: value for key, value in parts.items() if value}
