"""Sample: says what the scheduler asks of it, and has nothing against any node.

PreFilter  tells which pod is to be placed.
Filter     tells which node it may go to, node by node.
PreBind    tells where it goes.
"""

import sys

import podium
from podium import framework as fwk

STORY = 3  # told with --v=3


class Sample(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.PreBindPlugin):
    name = "Sample"

    class Args(fwk.Args, frozen=True):
        favorite_color: str = ""
        favorite_number: int = 0
        thanks_to: str = ""

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.log = handle.log
        self.log.v(
            STORY, "sample plugin", favorite_color=args.favorite_color,
            favorite_number=args.favorite_number, thanks_to=args.thanks_to,
        )  # fmt: skip

    def pre_filter(self, state: fwk.CycleState, pod: fwk.Pod, nodes: fwk.Rows) -> None:
        self.log.v(STORY, "prefilter pod", pod=pod.key)

    def filter(self, state: fwk.CycleState, pod: fwk.Pod, node: fwk.NodeInfo) -> None:
        self.log.v(STORY, "filter pod", pod=pod.key, node=node.name)

    async def pre_bind(self, state: fwk.CycleState, pod: fwk.Pod, node_name: str) -> None:
        self.log.v(STORY, "prebind pod", pod=pod.key, node=node_name)


def main() -> int:
    """The command ``sample-scheduler``: kube-scheduler's flags, and one plugin more."""
    return podium.main(plugins=[Sample])


if __name__ == "__main__":
    sys.exit(main())
