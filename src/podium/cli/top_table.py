"""What `podium top` prints into a pipe: one table, a fact per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from podium.cli import terminal
from podium.cli.dashboard_client import Look
from podium.cli.terminal import HEADING
from podium.cli.top_lines import fullest_nodes, lanes, milliseconds, one_line, percent, trouble

_NODES = 10
_PODS = 3  # pods that are named for each reason


def table(look: Look) -> Iterator[Text]:
    """Return the lines: what it is about, a name, a number and details."""
    header = [Text(title, HEADING) for title in ("ABOUT", "NAME", "VALUE", "DETAILS")]
    return terminal.aligned([header, *_rows(look)], right={2})


def _rows(look: Look) -> Iterator[Sequence[str]]:
    overview = look.overview
    health = trouble(overview) or "scheduling"
    yield (
        "cluster",
        "nodes",
        str(overview.nodes),
        f"{overview.server}, Kubernetes {overview.release}",
    )
    yield "cluster", "pods", str(overview.pods), "with a node"
    yield "rate", "pods/s", f"{overview.bound_per_second:.1f}", health
    bind = overview.time_to_bind
    if bind.pods:
        details = f"{bind.pods} pods; 99% within {milliseconds(bind.p99)}"
        yield "rate", "half-bound-in", milliseconds(bind.p50).replace(" ", ""), details
    for name, count in lanes(overview):
        yield "queue", name.replace(" ", "-"), str(count), ""
    for group in look.pending.groups:
        some = ", ".join(one_line(pod.pod) for pod in group.pods[:_PODS])
        more = ", …" if group.count > _PODS else ""
        yield (
            "pending",
            one_line(group.code),
            str(group.count),
            f"{one_line(group.text)}: {some}{more}",
        )
    for node in fullest_nodes(look.map, _NODES):
        shares = [f"{name} {percent(share).strip()}" for name, share in node.shares.items()]
        details = ", ".join([*shares, *filter(None, [node.marks])])
        yield "node", one_line(node.name), percent(node.share).strip(), details
