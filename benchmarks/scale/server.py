"""An API server that only looks like one: it makes up a cluster, and is too fast to be measured.

    python -m benchmarks.scale.server NODES PODS

It prints its address. Each line on standard input is a command, answered with a line when it is
done: ``first`` (the first pod is bound), ``create N`` (pods, and all are bound), ``touch`` (a new
version of every node), ``relist N`` (as create, but meanwhile all watches break with 410, and one
placed pod in twenty is gone from the next list).
"""

import asyncio
import json
import os
import sys
import time

from benchmarks.scale.objects import APPS, node_text, pod_text

NODE = node_text()
# The pods of one app in two are spread over the zones.
PLACED = (pod_text(node="%(node)s"), pod_text(node="%(node)s", spread=True))
PENDING = (pod_text(), pod_text(spread=True))
BATCH = 200
GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
CREATED = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


class World:
    """The cluster: ``placed`` has the node number of each placed pod; the others wait."""

    def __init__(self, nodes, pods):
        self.nodes, self.pods = nodes, pods
        self.placed = {number: number % nodes for number in range(pods)} if nodes else {}
        self.versions = {}  # of what has changed
        self.version = nodes + pods + 1
        self.round = 0
        self.waiting = set()
        self.bound = asyncio.Event()
        self.watches = {"nodes": [], "pods": []}

    def node(self, number):
        name = node_name(number)
        version = self.versions.get(("node", number), number + 1)
        places = {"name": name, "version": version, "zone": number % 3, "round": self.round}
        return NODE % places

    def pod(self, number):
        node = self.placed.get(number)
        version = self.versions.get(("pod", number), number + 1)
        app = number // APPS
        places = {"name": f"pod-{number:08d}", "version": version, "app": app}
        places["time"] = (
            f"2026-01-{1 + app % 28:02d}T{app % 24:02d}:{app % 60:02d}:{number % 10:02d}Z"
        )
        if node is None:
            return PENDING[app % 2] % places
        return PLACED[app % 2] % {**places, "node": node_name(node)}

    def listed(self, kind):
        if kind == "nodes":
            return (self.node(number) for number in range(self.nodes))
        if kind == "pods":
            return (self.pod(number) for number in [*self.placed, *self.waiting])
        return iter(())

    def changed(self, kind, number, change):
        self.version += 1
        self.versions[kind, number] = self.version
        text = self.node(number) if kind == "node" else self.pod(number)
        for watch in self.watches[f"{kind}s"]:
            watch.send(event(change, text))

    def create(self, count):
        for number in range(self.pods, self.pods + count):
            self.waiting.add(number)
            self.changed("pod", number, "ADDED")
        self.pods += count
        self.bound.clear()

    def bind(self, name, node):
        number = int(name.removeprefix("pod-"))
        self.waiting.discard(number)
        self.placed[number] = int(node.removeprefix("node-"))
        self.changed("pod", number, "MODIFIED")
        if not self.waiting:
            self.bound.set()

    async def touch(self):
        self.round += 1
        for number in range(self.nodes):
            self.changed("node", number, "MODIFIED")
            if number % BATCH == 0:
                await asyncio.sleep(0)

    def forget(self):
        for number in list(self.placed)[::20]:
            del self.placed[number]
        for watches in self.watches.values():
            for watch in watches:
                watch.send(event("ERROR", json.dumps(GONE)))
                watch.end()
            watches.clear()


class Watch:
    """One watch: what changes while its list is being written is sent after the list."""

    def __init__(self, writer):
        self._writer = writer
        self._pending = []
        self.is_listing = True
        self.over = asyncio.Event()

    @property
    def is_lost(self):
        return self._writer.is_closing()

    async def list(self, texts, version):
        batch = []
        for text in texts:
            batch.append(event("ADDED", text))
            if len(batch) == BATCH:
                await self._write("".join(batch))
                batch = []
        mark = {"k8s.io/initial-events-end": "true"}
        meta = {"resourceVersion": str(version), "annotations": mark}
        batch.append(event("BOOKMARK", json.dumps({"kind": "x", "metadata": meta})))
        await self._write("".join([*batch, *self._pending]))
        self.is_listing = False

    def send(self, text):
        if self.is_listing:
            self._pending.append(text)
        else:
            self._writer.write(chunk(text))

    def end(self):
        if not self.is_listing:
            self._writer.write(b"0\r\n\r\n")
        self.over.set()

    async def _write(self, text):
        self._writer.write(chunk(text))
        await self._writer.drain()


def node_name(number):
    return f"node-{number:06d}"


def event(change, text):
    return f'{{"type":"{change}","object":{text}}}\n'


def chunk(text):
    data = text.encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server:
    def __init__(self, world):
        self.world = world
        self.first_bound = None

    async def talk(self, reader, writer):
        try:
            while line := await reader.readline():
                method, path, _ = line.decode().split()
                body = await self._body(reader)
                if method == "GET":
                    await self._get(path, writer)
                else:
                    self._write(method, path, body)
                    writer.write(CREATED)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _body(self, reader):
        size = 0
        while (line := await reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        return await reader.readexactly(size)

    def _write(self, method, path, body):
        if path.endswith("/binding"):
            if self.first_bound is None:
                self.first_bound = time.time()
            self.world.bind(path.split("/")[-2], json.loads(body)["target"]["name"])

    async def _get(self, path, writer):
        kind = path.partition("?")[0].rpartition("/")[2]
        watch = Watch(writer)
        others = self.world.watches.get(kind, ())
        self.world.watches[kind] = [watch, *(each for each in others if not each.is_lost)]
        writer.write(STREAM)
        is_list = "sendInitialEvents" in path
        await watch.list(self.world.listed(kind) if is_list else (), self.world.version)
        await watch.over.wait()

    async def command(self, words):
        """Do what a line of standard input says; return the answer."""
        match words:
            case ["create", count]:
                self.world.create(int(count))
                await self.world.bound.wait()
            case ["touch"]:
                await self.world.touch()
            case ["relist", count]:
                self.world.create(int(count))
                self.world.forget()
                await self.world.bound.wait()
            case ["first"]:
                await self.world.bound.wait()
        return {"first_bound": self.first_bound}


async def main(nodes, pods):
    server = Server(World(nodes, pods))
    if nodes:
        server.world.create(1)
    listening = await asyncio.start_server(server.talk, "127.0.0.1", 0, limit=1 << 22)
    port = listening.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await obey(server.command)


async def obey(command):
    """Answer the lines of standard input; when it ends, end, also in the middle of a command."""
    lines = asyncio.Queue()
    reading = asyncio.ensure_future(read(lines))
    while not reading.done():
        print(json.dumps(await command((await lines.get()).split())), flush=True)


async def read(lines):
    while line := await asyncio.to_thread(sys.stdin.readline):
        lines.put_nowait(line)
    os._exit(1)  # the benchmark is gone


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
