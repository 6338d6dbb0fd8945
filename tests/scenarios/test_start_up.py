"""What is created while the scheduler starts is seen as if it had been there before."""

import asyncio

import pytest

from tests.support.faulty_proxy import holding
from tests.support.scenarios import ClusterBehindProxy, node, pod, reasons

CLAIM = {
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeName": "pv-data",
        "storageClassName": "",
    },
}
VOLUME = {
    "kind": "PersistentVolume",
    "metadata": {"name": "pv-data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/data"},
        "claimRef": {"namespace": "default", "name": "data"},
    },
}
SPEC = {
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    "tolerations": [{"operator": "Exists"}],  # the node is still new
}


class SlowToWatch(ClusterBehindProxy):
    """A cluster that answers the list of claims and opens their watch when ``opened`` is set."""

    streams_lists = False

    async def address(self, url):
        found = await super().address(url)
        self.proxy.streams_lists = self.streams_lists
        self.opened = asyncio.Event()
        self.proxy.instead("persistentvolumeclaims?watch=true", holding(self.opened))
        return found

    def watches_claims(self):
        paths = [one.path for one in self.proxy.requests]
        return any("persistentvolumeclaims?watch=true" in path for path in paths)


class StreamingSlowly(SlowToWatch):
    streams_lists = True


async def turns():
    for _ in range(1000):
        await asyncio.sleep(0)


@pytest.mark.parametrize("cluster", [SlowToWatch, StreamingSlowly])
def test_a_claim_and_its_pod_that_come_before_the_watch_is_open(cluster):
    async def scene():
        made = cluster()
        await made.create(node())
        starting = asyncio.ensure_future(made.__aenter__())
        while not (hasattr(made, "opened") and made.watches_claims()):
            await asyncio.sleep(0)
        # The list of claims is over, their watch is not open: nothing may be scheduled yet.
        await made.create(VOLUME, CLAIM, pod("web", **SPEC))
        await turns()
        assert not made.scheduler.watching.has_synced
        assert made.node_of("web") is None

        made.opened.set()
        await starting
        try:
            assert made.node_of("web") == "n1"
            assert reasons(made) == [("Scheduled", "Successfully assigned default/web to n1")]
        finally:
            await made.__aexit__(None, None, None)

    asyncio.run(scene())
