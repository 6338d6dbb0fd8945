"""What the client costs: microseconds of its process's CPU time per pod listed and watched, per
bind and per event. The API server runs in a process of its own and is not counted.

    python -m benchmarks.client_cost [pods]
"""

import asyncio
import subprocess
import sys
import time

from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.server import EmbeddedServer
from podium.client.api_client import ApiClient
from podium.client.endpoint import Endpoint
from podium.client.event_recorder import ApiEventRecorder, EventSender
from podium.client.http import Connection, Options
from podium.client.informer import Informer
from podium.client.resources import PODS
from podium.clock import LoopClock
from podium.framework.handle import EventNote

IN_FLIGHT = 16
FAST = Options(qps=-1)


async def serve(pods):
    """Print the address, then apply label changes to all pods for every line on standard input."""
    api = new_api(LoopClock(), history=4 * pods)
    cluster = Cluster(api)
    async with EmbeddedServer(api) as server:
        cluster.create("nodes", {"metadata": {"name": "n"}})
        for number in range(pods):
            cluster.create("pods", pod(f"p{number}"))
        print(server.url, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            for number in range(pods):
                cluster.modify("pods", ("default", f"p{number}"), labelled)


def pod(name):
    requests = {"cpu": "100m", "memory": "500Mi"}
    container = {"name": "c", "image": "nginx:1", "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {"containers": [container]},
    }


def labelled(obj):
    labels = {"app": "web", "round": "2"}
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


class Meter:
    """CPU time of this process around something, divided by how many there were."""

    def __init__(self, count):
        self.count = count
        self.figures = {}

    async def measure(self, what, work):
        begun = time.process_time()
        await work
        self.figures[what] = (time.process_time() - begun) / self.count * 1e6


async def measure(url, pods, change):
    clock, meter = LoopClock(), Meter(pods)
    endpoint = Endpoint(url, "the measurement")
    async with (
        Connection(endpoint, clock, FAST) as connection,
        Connection(endpoint, clock, FAST) as for_events,
    ):
        informer, seen = Informer(connection, PODS), Seen()
        informer.subscribe(seen.tell)
        following = asyncio.ensure_future(informer.run())
        await meter.measure("list, decode, tell: per pod", informer.wait_synced())
        change()
        await meter.measure("watch, decode, tell: per pod", seen.until(2 * pods))
        following.cancel()
        client, objects = ApiClient(connection), list(informer.objects())
        await meter.measure("bind: per pod", bind_all(client, objects))
        sender = EventSender(ApiClient(for_events), clock)
        sending = asyncio.ensure_future(sender.run())
        await meter.measure("event: per pod", record_all(sender, objects))
        sending.cancel()
        await asyncio.gather(following, sending, return_exceptions=True)
    return meter.figures


class Seen:
    def __init__(self):
        self.count = 0
        self.changed = asyncio.Event()

    def tell(self, old, new):
        self.count += 1
        self.changed.set()

    async def until(self, count):
        while self.count < count:
            self.changed.clear()
            await self.changed.wait()


async def bind_all(client, objects):
    turns = asyncio.Semaphore(IN_FLIGHT)

    async def bind(one):
        async with turns:
            await client.bind(one, "n")

    await asyncio.gather(*map(bind, objects))


async def record_all(sender, objects):
    recorder = ApiEventRecorder(sender, "default-scheduler")
    for one in objects:
        note = f"Successfully assigned {one.key} to n"
        recorder.record(one, None, EventNote("Normal", "Scheduled", "Binding", note))
    await sender.flush(60)


def main(pods):
    command = [sys.executable, "-m", "benchmarks.client_cost", "serve", str(pods)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        url = server.stdout.readline().strip()

        def change():
            print(file=server.stdin, flush=True)

        for what, microseconds in asyncio.run(measure(url, pods, change)).items():
            print(f"{what:<30} {microseconds:6.0f} µs")
        server.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(int(sys.argv[2])))
    else:
        main(int((*sys.argv[1:], "3000")[0]))
