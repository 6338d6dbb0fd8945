"""What the client writes, as the embedded server understands it, and what it does when refused."""

import json
from itertools import pairwise

import msgspec
import pytest

from podium.api.objects import (
    Condition,
    Lease,
    LeaseSpec,
    Node,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    decode,
)
from podium.client.api_client import RETRIES, ApiClient, SingleTryBindings
from podium.client.endpoint import Endpoint
from podium.client.http import Connection
from podium.errors import ApiError, Conflict, NotFound, Unreachable
from tests.support.client import UNLIMITED, node, pod, with_world
from tests.support.faulty_proxy import answering, done_but, hanging_up, losing_the_answer, saying

SAID = Condition(type="PodScheduled", status="False", reason="Unschedulable", message="no")


def made(world, kind, resource, obj):
    return decode(kind, world.create(resource, **obj))


def stored(world, resource, namespace, name):
    return world.cluster.find(resource, (namespace, name))


@with_world
async def test_bind_sends_a_binding_for_this_very_pod(world):
    world.create("nodes", **node("n"))
    subject = made(world, Pod, "pods", pod("p"))

    await world.client.bind(subject, "n")

    sent = world.proxy.requests[-1]
    assert (sent.method, sent.path) == ("POST", "/api/v1/namespaces/default/pods/p/binding")
    assert json.loads(sent.body) == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p", "namespace": "default", "uid": subject.uid},
        "target": {"kind": "Node", "name": "n"},
    }
    assert stored(world, "pods", "default", "p")["spec"]["nodeName"] == "n"


@with_world
async def test_an_answer_that_is_no_object_is_a_request_that_failed(world):
    world.proxy.instead("/leases", *[saying("<html>")] * 3)
    lease = Lease(ObjectMeta(namespace="kube-system", name="l"), LeaseSpec("me"))

    for asked in (
        world.client.get_lease(lease.key),
        world.client.create_lease(lease),
        world.client.update_lease(lease),
    ):
        with pytest.raises(ApiError, match="answered with another object: Lease: JSON is"):
            await asked


@with_world
async def test_bind_refused(world):
    world.create("nodes", **node("n"))
    subject = made(world, Pod, "pods", pod("p"))
    await world.client.bind(subject, "n")

    with pytest.raises(Conflict, match='pod p is already assigned to node "n"') as refused:
        await world.client.bind(subject, "other")
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    with pytest.raises(NotFound, match='pods "gone" not found'):
        await world.client.bind(Pod(metadata=ObjectMeta(name="gone", namespace="default")), "n")


@with_world
async def test_a_bind_without_an_answer_is_not_sent_twice(world):
    subject = made(world, Pod, "pods", pod("p"))
    world.proxy.instead("binding", hanging_up)

    with pytest.raises(Unreachable) as broken:
        await world.client.bind(subject, "n")

    assert broken.value.sent
    assert [sent.method for sent in world.proxy.requests] == ["POST", "GET"]


@pytest.mark.parametrize("fault", [losing_the_answer, answering(504, "timed out")])
@pytest.mark.parametrize("kind", [ApiClient, SingleTryBindings])
@with_world
async def test_a_binding_that_was_carried_out_succeeds_whatever_the_answer(world, kind, fault):
    world.create("nodes", **node("n"))
    subject = made(world, Pod, "pods", pod("p"))
    if fault is not losing_the_answer:
        await world.client.bind(subject, "n")
    world.proxy.instead("/binding", fault)
    world.proxy.instead("/pods/p", hanging_up, answering(503))  # the first reads fail, too

    await world.in_time(world.start(kind(world.connection).bind(subject, "n")).done)

    assert stored(world, "pods", "default", "p")["spec"]["nodeName"] == "n"
    assert [sent.method for sent in world.proxy.requests][-1] == "GET"


@pytest.mark.parametrize("last", [403, 404, 422])
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "1"}], ids=["at-once", "when-asked-to"])
@pytest.mark.parametrize("first", [500, 503])
@with_world
async def test_an_earlier_try_may_have_been_carried_out(world, first, headers, last):
    """The server does what it is asked to and says 500; the next try is refused."""
    world.create("nodes", **node("n"))
    subject = made(world, Pod, "pods", pod("p"))
    world.proxy.instead("/binding", done_but(first, **headers), answering(last))

    bound = world.start(world.client.bind(subject, "n"))

    await world.in_time(bound.done)
    bound.result()


@with_world
async def test_a_pod_of_the_same_name_is_another_pod(world):
    world.create("nodes", **node("n"))
    subject = made(world, Pod, "pods", pod("p", nodeName="n"))
    other = msgspec.structs.replace(
        subject, metadata=msgspec.structs.replace(subject.metadata, uid="other")
    )

    with pytest.raises(Conflict):
        await world.client.bind(other, "n")


@pytest.mark.parametrize(
    ("kind", "code", "waits"),
    [
        pytest.param(ApiClient, 500, (0.01, 0.05, 0.25), id="retried-after-500"),
        pytest.param(ApiClient, 503, (0.01, 0.05, 0.25), id="retried-after-503"),
        pytest.param(ApiClient, 409, (), id="conflict-is-final"),
        pytest.param(SingleTryBindings, 500, (), id="sent-once-in-1.36"),
        pytest.param(SingleTryBindings, 503, (), id="sent-once-in-1.36-after-503"),
    ],
)
@with_world
async def test_a_refused_binding_is_sent_again(world, kind, code, waits):
    subject = made(world, Pod, "pods", pod("p"))
    world.proxy.instead("/binding", *[answering(code)] * RETRIES.tries)
    bound = world.start(_error(kind(world.connection).bind(subject, "n")))

    await world.in_time(bound.done)

    assert bound.result().code == code
    *bindings, read = world.proxy.requests
    assert read.method == "GET", "whether it was carried out all the same"
    waited = [round(b.at - a.at, 2) for a, b in pairwise(bindings)]
    assert waited == [pytest.approx(seconds, rel=0.11) for seconds in waits]


@with_world
async def test_a_binding_succeeds_after_a_passing_fault(world):
    world.create("nodes", **node("n"))
    subject = made(world, Pod, "pods", pod("p"))
    world.proxy.instead("/binding", answering(503), answering(500))
    bound = world.start(world.client.bind(subject, "n"))

    await world.in_time(bound.done)

    assert stored(world, "pods", "default", "p")["spec"]["nodeName"] == "n"
    assert len(world.proxy.requests) == 3


@with_world
async def test_pods_are_deleted(world):
    subject = made(world, Pod, "pods", pod("p"))

    await world.client.delete_pod(subject)

    assert stored(world, "pods", "default", "p") is None
    assert world.proxy.requests[-1].body == b""


@with_world
async def test_a_condition_and_a_nomination_are_patched(world):
    subject = made(world, Pod, "pods", pod("p"))

    await world.client.patch_pod_status(subject, SAID, "n1")
    status = stored(world, "pods", "default", "p")["status"]
    assert status["nominatedNodeName"] == "n1"
    assert [(one["type"], one["reason"]) for one in status["conditions"]] == [
        ("PodScheduled", "Unschedulable")
    ]

    await world.client.clear_nominated_node_name(await world.client.read(Pod, "default/p"))
    assert "nominatedNodeName" not in stored(world, "pods", "default", "p")["status"]


@with_world
async def test_what_is_said_already_is_not_sent(world):
    await world.client.patch_pod_status(made(world, Pod, "pods", pod("p")), SAID)
    asked = len(world.proxy.requests)

    await world.client.patch_pod_condition(await world.client.read(Pod, "default/p"), SAID)

    assert len(world.proxy.requests) == asked + 1  # the read


@pytest.mark.parametrize("code", [500, 503, 409])
@with_world
async def test_a_status_patch_is_tried_four_times(world, code):
    subject = made(world, Pod, "pods", pod("p"))
    world.proxy.instead("/status", *[answering(code)] * RETRIES.tries)
    patched = world.start(_error(world.client.patch_pod_status(subject, SAID)))

    await world.in_time(patched.done)

    assert patched.result().code == code
    waits = [round(b.at - a.at, 2) for a, b in pairwise(world.proxy.requests)]
    assert waits == [pytest.approx(w, rel=0.11) for w in (0.01, 0.05, 0.25)]


@with_world
async def test_so_is_one_that_reached_nobody(world):
    subject = made(world, Pod, "pods", pod("p"))
    nobody = Connection(Endpoint("http://127.0.0.1:1", "the test"), world.clock, UNLIMITED)
    async with nobody:
        patched = world.start(_error(ApiClient(nobody).patch_pod_status(subject, SAID)))
        begun = world.clock.now()
        await world.in_time(patched.done)

    assert not patched.result().sent
    assert world.clock.now() - begun == pytest.approx(0.31, rel=0.11)


@pytest.mark.parametrize("code", [404, 422, 403])
@with_world
async def test_a_final_refusal_of_a_status_patch_is_final(world, code):
    subject = made(world, Pod, "pods", pod("p"))
    world.proxy.instead("/status", answering(code))

    with pytest.raises(ApiError) as refused:
        await world.client.patch_pod_status(subject, SAID)

    assert refused.value.code == code
    assert len(world.proxy.requests) == 1


async def _error(work):
    try:
        await work
    except ApiError as error:
        return error


VOLUME = {
    "metadata": {"name": "pv"},
    "spec": {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/tmp"},
    },
}
CLAIM = {
    "metadata": {"name": "c", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@with_world
async def test_a_volume_is_bound_in_the_version_that_was_seen(world):
    volume = made(world, PersistentVolume, "persistentvolumes", VOLUME)
    claim = ObjectReference(
        api_version="v1", kind="PersistentVolumeClaim", namespace="default", name="c", uid="u"
    )

    bound = await world.client.bind_volume(volume, claim, {"pv.kubernetes.io/bound": "yes"})

    assert bound.spec.claim_ref == claim
    assert bound.annotations == {"pv.kubernetes.io/bound": "yes"}
    assert bound == await world.client.read(PersistentVolume, "pv")
    with pytest.raises(Conflict):
        await world.client.bind_volume(volume, claim, {})


@with_world
async def test_a_claim_is_annotated_in_the_version_that_was_seen(world):
    claim = made(world, PersistentVolumeClaim, "persistentvolumeclaims", CLAIM)
    marks = {"volume.kubernetes.io/selected-node": "n"}

    marked = await world.client.annotate_claim(claim, marks)

    assert marks.items() <= marked.annotations.items()
    with pytest.raises(Conflict):
        await world.client.annotate_claim(claim, marks)


@with_world
async def test_objects_are_read_by_kind_and_key(world):
    world.create("nodes", **node("n"))

    assert (await world.client.read(Node, "n")).name == "n"
    with pytest.raises(NotFound, match='nodes "other" not found'):
        await world.client.read(Node, "other")


@with_world
async def test_leases_are_created_and_updated(world):
    meta = ObjectMeta(name="kube-scheduler", namespace="kube-system")
    times = {
        "acquire_time": "2026-01-02T03:04:05.000001Z",
        "renew_time": "2026-01-02T03:04:05.000001Z",
    }
    spec = LeaseSpec(holder_identity="me", lease_duration_seconds=15, **times)

    lease = await world.client.create_lease(Lease(metadata=meta, spec=spec))
    assert lease.spec == spec
    with pytest.raises(Conflict, match="already exists"):
        await world.client.create_lease(Lease(metadata=meta, spec=spec))

    released = LeaseSpec(holder_identity="", lease_duration_seconds=1, **times)
    await world.client.update_lease(Lease(metadata=lease.metadata, spec=released))
    with pytest.raises(Conflict):
        await world.client.update_lease(Lease(metadata=lease.metadata, spec=spec))

    found = stored(world, "leases.coordination.k8s.io", "kube-system", "kube-scheduler")["spec"]
    assert (found["holderIdentity"], found["leaseTransitions"]) == ("", 0)
    assert (await world.client.get_lease("kube-system/kube-scheduler")).spec == released
