"""kopf against the embedded server, unchanged: an operator in a process of its own, and a CRD."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from podium.apiserver.api import Call
from podium.apiserver.deletion import DeleteOptions
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.cli.kubeconfig import add_context

pytestmark = pytest.mark.slow

COPIES, CRDS = "copies.example.com", "customresourcedefinitions.apiextensions.k8s.io"
OPERATOR = Path(__file__).parents[1] / "support" / "kopf_operator.py"
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SPEC = {"count": {"type": "integer"}, "text": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": SPEC}, "status": FREE},
}
CRD = {
    "metadata": {"name": COPIES},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Copy", "plural": "copies", "singular": "copy"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": SCHEMA},
            }
        ],
    },
}
COPY = {
    "apiVersion": "example.com/v1",
    "kind": "Copy",
    "metadata": {"name": "poem"},
    "spec": {"count": 2, "text": "old"},
}
KEY = ("default", "poem")


class Watcher:
    """Waits for states of the store: looked at again after every change, and never asleep."""

    def __init__(self, cluster, operator):
        self.store = cluster.api.store
        self._operator = operator
        self._changed = asyncio.Event()
        self.store.listen(lambda resource, event: self._changed.set())

    def copy(self):
        found = self.store.find(COPIES, KEY)
        return found.decode() if found else None

    def texts(self):
        found = {}
        for item in self.store.list("configmaps", "default").items:
            found[item.key[1]] = item.decode().get("data", {}).get("text")
        return found

    async def until(self, is_so):
        ended = asyncio.ensure_future(self._operator.wait())
        async with asyncio.timeout(60):
            while not is_so():
                self._changed.clear()
                change = asyncio.ensure_future(self._changed.wait())
                await asyncio.wait([change, ended], return_when=asyncio.FIRST_COMPLETED)
                change.cancel()
                assert not ended.done(), f"kopf ended with {self._operator.returncode}"
        ended.cancel()


@asynccontextmanager
async def running_operator(directory, url):
    add_context(directory / "config", url)
    arguments = ["-m", "kopf", "run", "--standalone", "--quiet", "-n", "default", str(OPERATOR)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=directory,
        env={**os.environ, "KUBECONFIG": str(directory / "config"), "HOME": str(directory)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        async with asyncio.timeout(30):
            await process.wait()


def test_an_operator_does_its_work(tmp_path):
    async def main():
        async with EmbeddedCluster(ClusterOptions(nodes=0)) as cluster:
            api = cluster.api
            api.create(api.kind(CRDS), "", CRD, Call())
            async with running_operator(tmp_path, cluster.url) as operator:
                await work(cluster, Watcher(cluster, operator))

    asyncio.run(main())


async def work(cluster, watcher):
    api = cluster.api
    copies = api.kind(COPIES)
    api.create(copies, "default", COPY, Call())
    await watcher.until(lambda: "create" in watcher.copy().get("status", {}))
    assert watcher.copy()["status"]["create"] == {"made": 2}
    assert watcher.copy()["metadata"]["finalizers"] == ["example.com/copies"]
    assert watcher.texts() == {"poem-0": "old", "poem-1": "old"}

    def rewritten(obj):
        return {**obj, "spec": {**obj["spec"], "text": "new"}}

    api.modify(copies, KEY, rewritten, Call())
    await watcher.until(lambda: watcher.copy()["status"].get("text") == "new")
    assert watcher.texts() == {"poem-0": "new", "poem-1": "new"}

    api.delete(copies, KEY, DeleteOptions())
    assert "deletionTimestamp" in watcher.copy()["metadata"]  # the finalizer holds it
    await watcher.until(lambda: watcher.copy() is None)
    assert watcher.texts() == {"poem-was-here": None}  # what it owned is gone with it
