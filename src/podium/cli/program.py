"""``podium.main()``: the scheduler command of a program that brings plugins of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podium.cli import scheduler
from podium.cli.parser import Parser


def main(plugins: Iterable[object] = (), argv: Sequence[str] | None = None) -> int:
    """Run ``podium scheduler`` with these classes, factories and decorated functions besides.

    They run in every profile that does not name them. Returns the exit code.
    """
    parser = Parser(
        allow_abbrev=False,
        usage="%(prog)s [flags]",
        description="The Kubernetes scheduler with plugins of this program. Without --kubeconfig "
        "and --master it uses the service account of the pod it runs in.",
    )
    scheduler.add_options(parser)
    return scheduler.run(parser.parse_args(argv), plugins)
