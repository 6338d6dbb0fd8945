"""Reports and comparisons for programs: JSON and CSV, as `podium simulate` prints them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from podium.framework.args import camel_case
from podium.simulation.compare import Comparison, Outcome
from podium.simulation.figures import Figures, ResourceUse
from podium.simulation.report import Report

API_VERSION: Final = "simulation.podium.dev/v1"
Json = dict[str, Any]


def report_json(report: Report) -> str:
    return _text(report_fields(report))


def report_fields(report: Report) -> Json:
    """Return a report as plain data."""
    fields = _camel(msgspec.to_builtins(report))
    for name, figures in (("before", report.before), ("after", report.after)):
        fields[name] = _figures(figures)
    fields["fit"] = [
        {**_camel(msgspec.to_builtins(each)), "runsOut": each.runs_out} for each in report.fit
    ]
    return {"apiVersion": API_VERSION, "kind": "Report", "fits": report.fits, **fields}


def comparison_json(comparison: Comparison) -> str:
    return _text(comparison_fields(comparison))


def comparison_fields(comparison: Comparison) -> Json:
    """Return a comparison as plain data."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Comparison",
        "fits": comparison.fits,
        "first": _outcome(comparison.first),
        "second": _outcome(comparison.second),
        "differences": msgspec.to_builtins(comparison.differences),
        "notes": list(comparison.notes),
    }


def _outcome(outcome: Outcome) -> Json:
    fields = _camel(msgspec.to_builtins(outcome))
    del fields["nodes"]  # ``differences`` has those that differ
    return {**fields, "figures": _figures(outcome.figures)}


def _figures(figures: Figures) -> Json:
    found: Json = _camel(msgspec.to_builtins(figures))
    found["resources"] = list(map(_use, figures.resources))
    for shown, domain in zip(found["domains"], figures.domains, strict=True):
        shown["resources"] = list(map(_use, domain.resources))
    return found


def _use(use: ResourceUse) -> Json:
    return {**_camel(msgspec.to_builtins(use)), "share": round(use.share, 4)}


def _text(fields: Json) -> str:
    return msgspec.json.format(msgspec.json.encode(fields)).decode()


def _camel(value: Any) -> Any:
    """Write the names of fields as Kubernetes does."""
    if isinstance(value, dict):
        return {camel_case(name): _camel(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_camel(item) for item in value]
    return value


def report_csv(report: Report) -> str:
    """Return a line for each pod that something happened to; of ``fit``, one for each node."""
    names = ("change", "pod", "from", "to", "detail")
    return _csv(names, (tuple(each.values()) for each in report.rows()))


def comparison_csv(comparison: Comparison) -> str:
    """Return a line for each pod with different nodes."""
    names = ("pod", comparison.first.name, comparison.second.name)
    return _csv(names, ((each.pod, each.first, each.second) for each in comparison.differences))


def _csv(names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()
