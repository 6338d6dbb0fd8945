"""podium's embedded API server with a made-up cluster, under the same commands as `server.py`.

    python -m benchmarks.scale.embedded NODES PODS

A relist comes about as it does in earnest: more pods change at once than the server remembers.
"""

import asyncio
import json
import sys
import time

from benchmarks.scale.server import World, obey
from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock

HISTORY = 8192


class Embedded:
    """Objects are written to the store without checks, which are not what is measured."""

    def __init__(self, nodes, pods):
        self.world = World(nodes, pods)
        self.api = new_api(LoopClock(), history=HISTORY)
        self.store = self.api.store
        self.waiting = 0
        self.bound = asyncio.Event()
        self.first_bound = None
        for number in range(nodes):
            self.store.create("nodes", unversioned(self.world.node(number)))
        for number in range(pods):
            self.store.create("pods", unversioned(self.world.pod(number)))
        self.store.listen(self._on_change)
        self.create(1)

    def create(self, count):
        self.waiting += count
        self.bound.clear()
        for _ in range(count):
            self.store.create("pods", unversioned(self.world.pod(self.world.pods)))
            self.world.pods += 1

    def _on_change(self, resource, event):
        if resource == "pods" and event.old is not None and _is_bound_by(event):
            self.first_bound = self.first_bound or time.time()
            self.waiting -= 1
            if not self.waiting:
                self.bound.set()

    def touch(self):
        self.world.round += 1
        for number in range(self.world.nodes):
            self.store.update("nodes", unversioned(self.world.node(number)))

    def change_pods(self):
        """Change more pods than the history holds, in one turn of the loop."""
        pods = list(self.world.placed) or [0]
        for turn in range(HISTORY + 1):
            obj = self.store.get("pods", "default", f"pod-{pods[turn % len(pods)]:08d}")
            obj["metadata"].setdefault("annotations", {})["turn"] = str(turn)
            self.store.update("pods", obj)

    async def command(self, words):
        """Do what a line of standard input says; return the answer."""
        match words:
            case ["create", count]:
                self.create(int(count))
            case ["touch"]:
                self.touch()
            case ["relist", count]:
                self.create(int(count))
                self.change_pods()
        await self.bound.wait()
        return {"first_bound": self.first_bound}


def _is_bound_by(event):
    return b'"nodeName"' in event.new.encoded and b'"nodeName"' not in event.old.encoded


def unversioned(text):
    """Return the object without its version, and without owners, which do not exist here."""
    obj = json.loads(text)
    del obj["metadata"]["resourceVersion"]
    obj["metadata"].pop("ownerReferences", None)
    return obj


async def main(nodes, pods):
    cluster = Embedded(nodes, pods)
    async with EmbeddedServer(cluster.api) as server:
        print(server.url, flush=True)
        await obey(cluster.command)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
