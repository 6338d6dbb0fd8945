"""No plugin of podium reads a kind that it has not declared, by whatever way."""

import re
from pathlib import Path

import pytest

import podium
from podium.framework.declared_kinds import registrations_of
from podium.legacy.plugins import LEGACY
from podium.plugins import IN_TREE
from podium.state.grouped_cluster import GroupedClusterState
from podium.testing.builders import namespace, node, pod, service
from podium.testing.handle import FakeHandle
from podium.testing.subject import Subject
from tests.support.configurations import with_legacy
from tests.support.groups import group, member
from tests.support.storage import claim, csi_node, storage_class, uses, volume

SOURCES = Path(podium.__file__).parent
NEAR_WEB = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "web"}},
                "namespaceSelector": {"matchLabels": {"team": "a"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}
OWNED = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1"}]
PODS = (
    pod("plain"),
    pod("web", labels="app=web", owner_references=[{**OWNED[0], "controller": True}]),
    pod("near", affinity=NEAR_WEB),
    pod("bound", volumes=uses("data")),
    pod("ebs", volumes=uses("disk")),
    pod("open", volumes=uses("more")),
    member("in-a-gang"),
)
OBJECTS = (
    node("a"),
    node("b"),
    namespace("default", labels="team=a"),
    service("web"),
    group(min_count=1),
    pod("old", node="a", labels="app=web", affinity=NEAR_WEB, volumes=uses("data")),
    csi_node("a", {"disk.example.com": 2}),
    storage_class("fast", provisioner="disk.example.com"),
    claim("data", volume="pv-data"),
    claim("disk", volume="pv-ebs"),
    claim("more", storage_class="fast"),
    volume("pv-data", csi="disk.example.com"),
    volume("pv-ebs", aws_elastic_block_store={"volumeID": "v"}),
)


class Recording(GroupedClusterState):
    """Remembers the kinds that are read from it, also past the handle of a plugin."""

    def __init__(self):
        super().__init__()
        self.read = set()

    def objects(self, kind):
        self.read.add(kind.__name__)
        return super().objects(kind)

    def assumed(self, kind):
        self.read.add(kind.__name__)
        return super().assumed(kind)


def declared(plugin):
    registered = {each.event.resource.rpartition("/")[2] for each in registrations_of(plugin)}
    return registered | {kind.__name__ for kind in plugin.watches}


@pytest.mark.parametrize("written", [*IN_TREE, *LEGACY], ids=lambda plugin: plugin.name)
def test_every_plugin_declares_what_it_reads(written):
    cluster = Recording()
    handle = FakeHandle(*OBJECTS, cluster=cluster)
    args = with_legacy().profiles[0].args.get(written.name)
    subject = Subject(written, handle, args)

    for each in PODS:
        subject.answers(each)

    assert cluster.read <= declared(subject.plugin)


def test_plugins_read_objects_through_their_handle_only():
    """The nodes they are given know a cluster that does not check what is read."""
    past = re.compile(r"(nodes?|others)\.cluster\.(objects|assumed|volumes|storage|namespace)")
    files = [*SOURCES.glob("plugins/**/*.py"), *SOURCES.glob("legacy/plugins/**/*.py")]
    assert len(files) > 50
    assert [str(file) for file in files if past.search(file.read_text())] == []
