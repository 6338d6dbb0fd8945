"""DefaultBinder: bind the pod to its node through the API.

Bind  creates a Binding with the pod's uid, so that a pod that was deleted and created again under
      the same name is not bound. If the API server refuses, the pod is tried again.
"""

from __future__ import annotations

from podium import framework as fwk
from podium.api.objects import Pod
from podium.errors import PodiumError


class DefaultBinder(fwk.BindPlugin):
    name = "DefaultBinder"

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._client = handle.client

    async def bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status:
        try:
            await self._client.bind(pod, node_name)
        except PodiumError as fault:
            return fwk.Status.error(fault)
        return fwk.SUCCESS
