"""SchedulingGates: a pod with scheduling gates is not tried until all of them are gone.

PreEnqueue  holds the pod back and names its gates.
Requeue     when the pod's last gate is removed; removing some of several changes nothing.
"""

from __future__ import annotations

from podium import framework as fwk
from podium.api.objects import Pod


class SchedulingGates(fwk.PreEnqueuePlugin, fwk.EnqueueExtensions):
    name = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        if not pod.spec.scheduling_gates:
            return fwk.SUCCESS
        names = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        return fwk.Status.unresolvable(f"waiting for scheduling gates: [{names}]")

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("TargetPod", "gates-eliminated", hint=lambda pod, old, new: new.uid == pod.uid)
        ]
