"""A cluster for runs of `podium bench`, and what they could leave there."""

import asyncio
import threading
from contextlib import contextmanager

from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from tests.support.control_plane.plane import write_kubeconfig
from tests.support.control_plane.sides import Side

OPTIONS = ClusterOptions(nodes=1, template={"metadata": {"name": "own"}})
KINDS = (
    "/api/v1/nodes",
    "/api/v1/pods",
    "/api/v1/namespaces",
    "/api/v1/services",
    "/api/v1/persistentvolumes",
    "/api/v1/persistentvolumeclaims",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/coordination.k8s.io/v1/leases",
    *(f"/apis/resource.k8s.io/v1/{plural}" for plural in ("deviceclasses", "resourceslices")),
    *(f"/apis/resource.k8s.io/v1/resourceclaim{rest}" for rest in ("s", "templates")),
)


@contextmanager
def embedded_side(folder):
    """A cluster with controllers, in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start():
        return await EmbeddedCluster(OPTIONS).__aenter__()

    cluster = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    kubeconfig = write_kubeconfig(folder / "kubeconfig", {"server": cluster.url}, {})
    side = Side("podium", cluster.url, kubeconfig)
    try:
        yield side
    finally:
        side.close()
        asyncio.run_coroutine_threadsafe(cluster.stop(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def standing(side):
    """The names of all that a run could leave."""
    found = {
        (path, one["metadata"]["name"])
        for path in KINDS
        for one in side.request("GET", path)[1]["items"]
    }
    return found - {("/api/v1/services", "kubernetes")}  # the API server makes it, at any time
