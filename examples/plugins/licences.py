"""Licences: no more pods of a kind than there are licences for, each with a licence of its own.

Reserve    takes a licence, or refuses when all are in use.
Unreserve  gives it back when the pod cannot be bound after all.
PreBind    writes the licence into the pod's status, before the pod starts.
PostBind   tells people which one it was.
"""

from podium import framework as fwk


class Licences(fwk.ReservePlugin, fwk.PreBindPlugin, fwk.PostBindPlugin, fwk.EnqueueExtensions):
    name = "Licences"

    class Args(fwk.Args, frozen=True):
        label: str = "example.com/licensed"
        keys: tuple[str, ...] = ("alpha", "beta")

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.args = args
        self.handle = handle
        self.holders: dict[str, str] = {}  # the uid of a pod, by licence

    def reserve(self, state: fwk.CycleState, pod: fwk.Pod, node_name: str) -> fwk.Status | None:
        if self.args.label not in pod.labels:
            return None
        for key in self.args.keys:
            # The state knows pods that run and pods on their way; others hold nothing any more.
            if self.holders.get(key) not in self.handle.cluster.pods:
                self.holders[key] = pod.uid
                return None
        return fwk.Status.unschedulable("all licences are in use")

    def unreserve(self, state: fwk.CycleState, pod: fwk.Pod, node_name: str) -> None:
        self.holders = {key: uid for key, uid in self.holders.items() if uid != pod.uid}

    async def pre_bind(self, state: fwk.CycleState, pod: fwk.Pod, node_name: str) -> None:
        if key := self.licence_of(pod):
            told = fwk.Condition(type="example.com/Licensed", status="True", reason=key)
            await self.handle.client.patch_pod_condition(pod, told)

    async def post_bind(self, state: fwk.CycleState, pod: fwk.Pod, node_name: str) -> None:
        if key := self.licence_of(pod):
            note = fwk.EventNote("Normal", "Licensed", "Binding", f"runs with licence {key}")
            self.handle.events.record(pod, None, note)

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Pod", "delete")]

    def licence_of(self, pod: fwk.Pod) -> str | None:
        return next((key for key, uid in self.holders.items() if uid == pod.uid), None)
