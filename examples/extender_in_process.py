"""An extender in this process: licences are counted elsewhere. Run it as it stands."""

import asyncio

from podium import app, config
from podium import framework as fwk
from podium.api.objects import Node, Pod, decode
from podium.cycle.extended import run_extended


class Licences(fwk.Extender):
    """Keeps pods off nodes without a free licence, and prefers nodes with many."""

    name = "licences"
    is_filter = True
    is_prioritizer = True

    def __init__(self, free: dict[str, int]) -> None:
        self.free = free

    async def filter(self, pod: Pod, nodes: fwk.Rows) -> fwk.Filtered:
        # Here a real one would ask the licence server; it may wait.
        passed = [name for name in nodes.names if self.free.get(name)]
        return fwk.Filtered(
            passed, {name: "no licence" for name in nodes.names if name not in passed}
        )

    async def prioritize(self, pod: Pod, nodes: fwk.Rows) -> dict[str, int]:
        return {name: min(self.free[name], 10) for name in nodes.names}


def node(name: str) -> Node:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return decode(Node, {"metadata": {"name": name}, "status": {"allocatable": allocatable}})


def pod(name: str) -> Pod:
    meta = {"name": name, "namespace": "default", "uid": name}
    return decode(Pod, {"metadata": meta, "spec": {"containers": [{"name": "main"}]}})


async def main() -> None:
    licences = Licences({"left": 1, "right": 3})
    core = app.build(config.default(app.in_tree()), extenders=[licences])
    for name in ("left", "right", "spare"):
        core.cluster.set_node(node(name))
    for name in ("a", "b", "c", "d", "e"):
        outcome = await run_extended(core.cycle(fwk.QueuedPod.of(pod(name))))
        if outcome.record.node:
            licences.free[outcome.record.node] -= 1
        print(name, outcome.record.node or outcome.message.partition(". ")[0])


if __name__ == "__main__":
    asyncio.run(main())
