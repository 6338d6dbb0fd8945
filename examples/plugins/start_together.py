"""StartTogether: the pods of a group start when all of them have a node, or none does.

A pod says to which group it belongs and how large that is, by two labels.
"""

from podium import framework as fwk

GROUP = "example.com/group"
SIZE = "example.com/group-size"


class StartTogether(fwk.PermitPlugin, fwk.ReservePlugin, fwk.EnqueueExtensions):
    name = "StartTogether"

    class Args(fwk.Args, frozen=True):
        patience: float = 60.0

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.patience = args.patience
        self.waiting_pods = handle.waiting_pods

    def permit(
        self, state: fwk.CycleState, pod: fwk.Pod, node_name: str
    ) -> fwk.Status | fwk.Wait | None:
        if GROUP not in pod.labels:
            return None
        mates = self.mates(pod)
        if len(mates) + 1 < int(pod.labels.get(SIZE, "1")):
            return fwk.wait(self.patience, f"{len(mates) + 1} of group {pod.labels[GROUP]} so far")
        for mate in mates:
            mate.allow(self.name)
        return None

    def unreserve(self, state: fwk.CycleState, pod: fwk.Pod, node_name: str) -> None:
        """One gave up: the others wait in vain, and free their room."""
        for mate in self.mates(pod):
            mate.reject(self.name, f"group {pod.labels[GROUP]} cannot start")

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Node", "add|allocatable"), fwk.on("Pod", "add|delete")]

    def mates(self, pod: fwk.Pod) -> list[fwk.WaitingPod]:
        """The others of its group that have a node and wait."""
        group = pod.namespace, pod.labels.get(GROUP)
        return [
            other
            for other in self.waiting_pods
            if group[1]
            and (other.pod.namespace, other.pod.labels.get(GROUP)) == group
            and other.pod.uid != pod.uid
        ]
