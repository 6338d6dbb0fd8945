"""OfficeHours: machines that people work at take no pods while the office is open.

Nothing happens in the cluster when it closes, so the plugin itself has the pods tried again.
"""

from datetime import UTC, datetime, timedelta

from podium import framework as fwk


class OfficeHours(fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "OfficeHours"

    class Args(fwk.Args, frozen=True):
        label: str = "example.com/desk"
        opens: int = 9
        closes: int = 17

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.args = args
        self.handle = handle
        self.waiting: dict[str, fwk.Pod] = {}

    def filter(self, state: fwk.CycleState, pod: fwk.Pod, node: fwk.NodeInfo) -> fwk.Status | None:
        now = datetime.fromtimestamp(self.handle.clock.now(), UTC)
        if self.args.label not in node.labels or not is_open(now, self.args):
            return None
        self.try_again_after_hours(pod, now)
        return fwk.Status.unresolvable("node(s) in use during office hours")

    def events_to_register(self) -> list[fwk.Registration]:
        return [fwk.on("Node", "add|label")]

    def try_again_after_hours(self, pod: fwk.Pod, now: datetime) -> None:
        if not self.waiting:
            closing = now.replace(hour=0, minute=0, second=0) + timedelta(hours=self.args.closes)
            self.handle.clock.call_later((closing - now).total_seconds(), self.release)
        self.waiting[pod.uid] = pod

    def release(self) -> None:
        pods, self.waiting = self.waiting, {}
        self.handle.activate(pods.values())


def is_open(now: datetime, args: OfficeHours.Args) -> bool:
    return now.weekday() < 5 and args.opens <= now.hour < args.closes
