"""Load on the embedded API server, with 5,000 nodes and 50,000 pods.

    python -m benchmarks.apiserver_load

Clients are processes of their own, so that their work is not counted as the server's.
"""

import asyncio
import sys
import time
from pathlib import Path

from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.apiserver.subresources import bind
from podium.clock import LoopClock

NODES, PODS, EVENTS, WATCHERS = 5_000, 50_000, 5_000, 10
LISTS = {
    "all nodes": "/api/v1/nodes",
    "all pods": "/api/v1/pods",
    "pods by label, 1 in 50": "/api/v1/pods?labelSelector=app%3Da1",
    "pods by field, all": "/api/v1/pods?fieldSelector=spec.nodeName%3D",
    "a page of 500 pods": "/api/v1/pods?limit=500",
    "a Table of all pods": "/api/v1/pods#Table",
}
READER = """
import sys, time, urllib.request
url, _, view = sys.argv[1].partition("#")
kind = "application/json" + (";as=Table;v=v1;g=meta.k8s.io" if view else "")
start = time.perf_counter()
body = urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": kind})).read()
print(f"{time.perf_counter() - start:.3f} s, {len(body) / 1e6:.1f} MB")
"""
WATCHER = """
import sys, urllib.request
stream = urllib.request.urlopen(sys.argv[1])
for _ in range(int(sys.argv[2])):
    stream.readline()
"""


def memory_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def node(number):
    name = f"node-{number:04d}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z{number % 3}"}
    status = {
        "capacity": {"cpu": "32", "memory": "256Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def pod(number):
    requests = {"cpu": "100m", "memory": "100Mi"}
    container = {"name": "c", "image": "nginx:1", "resources": {"requests": requests}}
    meta = {"name": f"pod-{number:05d}", "labels": {"app": f"a{number % 50}"}}
    return {"metadata": meta, "spec": {"containers": [container]}}


def fill(api):
    start = time.perf_counter()
    for number in range(NODES):
        api.create(api.kind("nodes"), "", node(number), Call())
    for number in range(PODS):
        api.create(api.kind("pods"), "default", pod(number), Call())
    each = (time.perf_counter() - start) / (NODES + PODS)
    print(f"creating in process: {each * 1e6:.0f} us each; the process has {memory_mb():.0f} MB")


async def read(url):
    for name, path in LISTS.items():
        print(f"{name}: ", end="", flush=True)
        reader = await asyncio.create_subprocess_exec(sys.executable, "-c", READER, url + path)
        await reader.wait()


async def fan_out(api, url):
    path = f"{url}/api/v1/pods?watch=1&resourceVersion={api.store.version}"
    start_watcher = (sys.executable, "-c", WATCHER, path, str(EVENTS))
    watchers = [await asyncio.create_subprocess_exec(*start_watcher) for _ in range(WATCHERS)]
    while api.store.watchers("pods") < WATCHERS:
        await asyncio.sleep(0.05)
    start = time.perf_counter()
    for number in range(EVENTS):
        bind(api, ("default", f"pod-{number:05d}"), {"target": {"name": "node-0001"}}, Call())
        if number % 50 == 0:
            await asyncio.sleep(0)  # as requests would, let the watches write
    wrote = time.perf_counter() - start
    for watcher in watchers:
        await watcher.wait()
    took = time.perf_counter() - start
    print(
        f"{EVENTS} bindings to {WATCHERS} watchers: {took:.2f} s, "
        f"{EVENTS * WATCHERS / took:,.0f} events/s; the bindings alone {wrote:.2f} s"
    )


async def main():
    api = new_api(LoopClock())
    print(f"at start the process has {memory_mb():.0f} MB")
    fill(api)
    async with EmbeddedServer(api) as server:
        await read(server.url)
        await fan_out(api, server.url)
    print(f"at the end the process has {memory_mb():.0f} MB")


if __name__ == "__main__":
    asyncio.run(main())
