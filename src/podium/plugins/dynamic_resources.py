"""DynamicResources: devices that pods claim. podium does not support resource claims yet.

PreFilter   rejects a pod that references resource claims; skips all other pods.
PostFilter  does not help. In 1.36 the pod's message says that there are no claims to deallocate.
Score       0 for every node: only claims with alternatives would make a difference.
Requeue     when nodes or devices change, as in kube-scheduler. Changes of claims do not help.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from podium import durations
from podium import framework as fwk
from podium.api.objects import Pod
from podium.framework.args import invalid
from podium.framework.scores import zeros

UNSUPPORTED = fwk.Status.unresolvable("podium does not support resource claims yet")
NO_CLAIMS = fwk.Status.unschedulable()
REPORTED_NO_CLAIMS = fwk.Status.unschedulable("no new claims to deallocate")
NO_STATE = fwk.Status.error("not found")
DEPENDENCIES = fwk.Dependencies()


@dataclass(frozen=True, slots=True)
class Claims:
    """PreFilter's state. It is empty, as podium does not support claims."""


class DynamicResources(
    fwk.PreEnqueuePlugin,
    fwk.PreFilterPlugin,
    fwk.FilterPlugin,
    fwk.PostFilterPlugin,
    fwk.ScorePlugin,
    fwk.ReservePlugin,
    fwk.PreBindPlugin,
    fwk.EnqueueExtensions,
):
    name = "DynamicResources"
    no_claims: ClassVar[fwk.Status] = NO_CLAIMS

    class Args(fwk.Args, frozen=True, rename="camel"):
        """Accepted so that existing configurations load. The timeouts have no effect."""

        filter_timeout: durations.Duration = 10.0
        binding_timeout: durations.Duration = 600.0

        def validate(self) -> Iterator[fwk.Problem]:
            if self.filter_timeout < 0:
                yield _invalid("filterTimeout", self.filter_timeout, "must be zero or positive")
            if self.binding_timeout < 1:
                yield _invalid("bindingTimeout", self.binding_timeout, "must be at least 1 second")

    def sign(self, pod: Pod) -> Hashable:
        if pod.spec.resource_claims:
            raise fwk.NotSignable
        return None

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_enqueue(self, pod: Pod) -> fwk.Status:
        return fwk.SUCCESS

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status:
        state.put(Claims())
        return UNSUPPORTED if pod.spec.resource_claims else fwk.skip()

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        state.get(Claims)
        return fwk.SUCCESS

    def post_filter(
        self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses
    ) -> tuple[None, fwk.Status]:
        # If an earlier PreFilter rejected the pod there is no state. As upstream, this error
        # then ends PostFilter. It is not a fault, so nothing is raised or logged.
        return None, self.no_claims if state.find(Claims) else NO_STATE

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        state.get(Claims)
        return 0

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        state.get(Claims)
        return zeros(len(nodes))

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        """Without claims there is nothing to reserve."""

    def unreserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        """Without claims there is nothing to give back."""

    def pre_bind_pre_flight(self, state: fwk.CycleState, pod: Pod, node_name: str) -> fwk.Status:
        return fwk.skip()

    async def pre_bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        """Never called, as ``pre_bind_pre_flight`` skips."""

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Node", "add|label|allocatable"),
            fwk.on("resource.k8s.io/ResourceClaim", "add|update|delete", hint=never),
            fwk.on("TargetPod", "generated-claim", hint=never),
            fwk.on("resource.k8s.io/DeviceClass", "add|update"),
            fwk.on("resource.k8s.io/ResourceSlice", "add|update"),
        ]


class ReportingDynamicResources(DynamicResources):
    """DynamicResources as of 1.36, which adds a text to the message of every rejected pod."""

    no_claims = REPORTED_NO_CLAIMS


def never(pod: Pod, old: object, new: object) -> bool:
    """Never requeue: changes of claims do not help while claims are not supported."""
    return False


def _invalid(path: str, seconds: float, detail: str) -> fwk.Problem:
    return invalid(path, durations.format(seconds), detail)
