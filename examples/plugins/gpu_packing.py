"""GPUPacking: fill a node with GPUs before the next one is begun, and keep other pods off them.

Try it: podium up --plugin examples/plugins/gpu_packing.py
"""

from podium import framework as fwk


class GPUPacking(fwk.ScorePlugin):
    name = "GPUPacking"
    weight = 10

    class Args(fwk.Args, frozen=True):
        resource: str = "nvidia.com/gpu"

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.resource = args.resource

    def sign(self, pod: fwk.Pod) -> int:
        """Pods that want as many GPUs are alike to this plugin."""
        return self.wanted(pod)

    def depends_on(self, pod: fwk.Pod) -> fwk.Dependencies:
        """A node's score changes with what it offers and what is taken there, and nothing else."""
        return fwk.Dependencies(node=fwk.Aspect.RESOURCES)

    def score(self, state: fwk.CycleState, pod: fwk.Pod, node: fwk.NodeInfo) -> int:
        return packed(
            self.wanted(pod), node.requested(self.resource), node.allocatable(self.resource)
        )

    def wanted(self, pod: fwk.Pod) -> int:
        return fwk.PodInfo(pod).requests.get(self.resource, 0)


def packed(wanted: int, taken: int, there: int) -> int:
    """How full the node would be, in percent; without a wish, best where there are none."""
    if not wanted:
        return 0 if there else 100
    return 100 * min(taken + wanted, there) // there if there else 0
