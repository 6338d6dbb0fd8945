"""PodGroup and ElasticQuota of scheduler-plugins in snapshots."""

import json

from podium.scheduler_plugins.definitions import definitions
from podium.snapshot import KindName, Snapshot, load, read_cluster
from podium.snapshot.anonymizing import anonymize
from podium.snapshot.summary import summarize
from tests.support import dumps
from tests.support.client import node, with_world

GROUP = KindName("scheduling.x-k8s.io/v1alpha1", "PodGroup")
QUOTA = KindName("scheduling.x-k8s.io/v1alpha1", "ElasticQuota")
BUILT_IN = KindName("scheduling.k8s.io/v1beta1", "PodGroup")


def custom(kind, name, **spec):
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"},
        "spec": spec,
    }


def member(name, group):
    made = dumps.pod(name, namespace="team")
    made["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": group}
    return made


def encoded(*objects):
    return tuple(json.dumps(each).encode() for each in objects)


@with_world
async def test_they_are_read_from_a_cluster(world):
    world.create("nodes", **node("a"))
    for definition in definitions(["Coscheduling", "CapacityScheduling"]):
        world.cluster.create("customresourcedefinitions.apiextensions.k8s.io", definition)
    world.create("namespaces", metadata={"name": "team"})
    quota = custom(QUOTA, "share", max={"cpu": 1})
    world.cluster.create("podgroups.scheduling.x-k8s.io", custom(GROUP, "gang", minMember=2))
    world.cluster.create("elasticquotas.scheduling.x-k8s.io", quota)

    taken = await read_cluster(world.connection)

    assert [each["spec"] for each in taken.dicts("PodGroup")] == [{"minMember": 2}]
    assert [each["spec"] for each in taken.dicts("ElasticQuota")] == [{"max": {"cpu": 1}}]
    assert taken.missing == ()


def test_they_are_counted_apart():
    taken = Snapshot(
        {
            BUILT_IN: encoded(custom(BUILT_IN, "new")),
            GROUP: encoded(custom(GROUP, "a"), custom(GROUP, "b")),
        }
    )

    assert summarize(taken).objects == {"PodGroup": 1, "PodGroup.scheduling.x-k8s.io": 2}


def test_a_dump_without_the_groups_of_its_pods_says_so(tmp_path):
    path = dumps.written(tmp_path / "dump.json", dumps.node("one"), member("web", "gang"))

    (found,) = [each for each in load(path).missing if each.kind.startswith("PodGroup")]

    assert found.kind == "PodGroup.scheduling.x-k8s.io"
    assert "Coscheduling" in found.consequence


def test_anonymized_groups_keep_their_pods_and_amounts():
    taken = Snapshot(
        {
            GROUP: encoded(custom(GROUP, "gang", minMember=2, minResources={"cpu": "3"})),
            QUOTA: encoded(custom(QUOTA, "share", min={"cpu": "1"}, max={"memory": "2Gi"})),
            KindName("v1", "Pod"): encoded(member("web", "gang")),
        }
    )

    renamed = anonymize(taken)

    (group,), (quota,), (pod,) = map(list, map(renamed.dicts, ("PodGroup", "ElasticQuota", "Pod")))
    assert (group["apiVersion"], group["kind"]) == GROUP
    assert (quota["apiVersion"], quota["kind"]) == QUOTA
    assert group["spec"] == {"minMember": 2, "minResources": {"cpu": "3"}}
    assert quota["spec"] == {"min": {"cpu": "1"}, "max": {"memory": "2Gi"}}
    assert group["metadata"]["name"] not in ("gang", "")
    assert pod["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": group["metadata"]["name"]}
    assert quota["metadata"]["namespace"] == pod["metadata"]["namespace"] != "team"
