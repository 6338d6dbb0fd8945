"""PreBind: what is written, and what is waited for; time is the fake clock's."""

import asyncio

import msgspec
import pytest

from podium import framework as fwk
from podium.api.objects import PersistentVolume, PersistentVolumeClaim
from podium.errors import ApiError, Conflict, Forbidden, NotFound
from podium.plugins.volume.binding.reservation import BOUND_BY_CONTROLLER
from podium.testing.builders import pod
from tests.support.storage import HOST, SELECTED, claim, storage_class, uses, volume
from tests.support.volume_binding import Trial

CSI = "csi.example.com"
BOUND = {"volume": "pv", "resource_version": "3"}
TOOK = {"claim": claim(), "resource_version": "2"}


class Binding(Trial):
    """PreBind of a pod on node a, and time that passes while it waits."""

    def __init__(self, *objects, **args):
        super().__init__(*objects, **args)
        self.pod = pod("web", volumes=uses("data"))
        row = self.cluster.table.live_row("a")
        self.cluster.assume(fwk.PodInfo(self.pod), row)
        assert self.reserve("a", "data").ok
        self.status = None

    def run(self, *seconds):
        """Let PreBind run; ``seconds`` are (after how long, what happens then)."""
        asyncio.run(self._run(seconds))
        return self.status

    async def _run(self, steps):
        task = asyncio.ensure_future(self.plugin.pre_bind(self.state, self.pod, "a"))
        await _settle()
        for after, happen in steps:
            self.handle.clock.advance(after)
            await _settle()
            if happen is not None:
                happen(self)
        if task.done():
            self.status = task.result()
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    @property
    def writes(self):
        return self.handle.client.writes


async def _settle():
    for _ in range(5):
        await asyncio.sleep(0)


def shown(*objects):
    """The watch shows these objects."""
    return lambda binding: [binding.cluster.set_object(obj) for obj in objects]


def gone(kind, key):
    return lambda binding: binding.cluster.remove_object(kind, key)


def static(**args):
    return Binding(storage_class(), claim(), volume(), **args)


def dynamic(**args):
    return Binding(storage_class("csi", provisioner=CSI), claim(storage_class="csi"), **args)


def test_a_volume_is_bound_and_waited_for():
    binding = static()
    assert binding.run((1, shown(volume(**TOOK))), (1, shown(claim(**BOUND))), (1, None)).ok
    assert binding.writes == [("bind volume", "pv", "data", {BOUND_BY_CONTROLLER: "yes"})]
    assert not len(binding.cluster.assumed(PersistentVolume))


def test_a_claim_gets_its_node_and_is_waited_for():
    binding = dynamic()
    selected = {"storage_class": "csi", "selected": "a", "resource_version": "2"}
    made = {**selected, "volume": "new", "resource_version": "3"}
    status = binding.run(
        (1, shown(claim(**selected))), (60, shown(claim(**made))), (1, shown(volume("new"))),
        (1, None),
    )  # fmt: skip
    assert status.ok
    assert binding.writes == [("annotate", "default/data", {SELECTED: "a"})]


def test_the_first_look_comes_after_a_second():
    binding = static()
    happened = (0, shown(volume(**TOOK), claim(**BOUND)))
    assert binding.run(happened, (0.9, None)) is None
    binding = static()
    assert binding.run(happened, (1, None)).ok


@pytest.mark.parametrize(
    ("happens", "text"),
    [
        pytest.param(
            gone(PersistentVolume, "pv"),
            'failed to check binding: persistentvolume "pv" not found',
            id="volume-is-gone",
        ),
        pytest.param(
            gone(PersistentVolumeClaim, "default/data"),
            'failed to check binding: persistentvolumeclaim "data" not found',
            id="claim-is-gone",
        ),
        pytest.param(
            lambda binding: binding.cluster.remove_node("a"),
            'failed to get node "a": node "a" not found',
            id="node-is-gone",
        ),
        pytest.param(
            lambda binding: binding.cluster.remove_pod(binding.pod),
            'pod does not exist any more: pod "web" not found',
            id="pod-is-gone",
        ),
        pytest.param(
            shown(volume(resource_version="3")),
            'ClaimRef got reset for pv "pv"',
            id="reset-by-somebody",
        ),
        pytest.param(
            shown(volume(claim="data", resource_version="3")),
            'ClaimRef got reset for pv "pv"',
            id="its-uid-is-gone",
        ),
        pytest.param(
            shown(volume(claim=claim(), on={HOST: "b"}, resource_version="3")),
            'pv "pv" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
            id="it-moved-away",
        ),
        pytest.param(
            shown(volume(claim=claim(), resource_version="3", node_affinity={"required": {}})),
            'pv "pv" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
            id="it-is-nowhere",
        ),
    ],
)
def test_what_ends_the_wait_for_a_volume(happens, text):
    status = static().run((0, happens), (1, None))
    assert status == fwk.Status.error(f"binding volumes: {text}")


@pytest.mark.parametrize(
    ("happens", "text"),
    [
        pytest.param(
            gone(PersistentVolumeClaim, "default/data"),
            'failed to check provisioning pvc: persistentvolumeclaim "data" not found',
            id="claim-is-gone",
        ),
        pytest.param(
            shown(claim(storage_class="csi", resource_version="3")),
            'selectedNode annotation reset for PVC "data"',
            id="no-annotations-left",
        ),
        pytest.param(
            shown(claim(storage_class="csi", resource_version="3", annotations={"other": "x"})),
            'provisioning failed for PVC "data"',
            id="the-provisioner-gave-up",
        ),
        pytest.param(
            shown(claim(storage_class="csi", resource_version="3", selected="b")),
            'provisioning failed for PVC "data"',
            id="another-node-was-selected",
        ),
        pytest.param(
            shown(claim(storage_class="csi", resource_version="3", selected="a", volume="new"),
                  volume("new", on={HOST: "b"})),
            'pv "new" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
            id="made-in-the-wrong-place",
        ),
    ],
)  # fmt: skip
def test_what_ends_the_wait_for_a_new_volume(happens, text):
    status = dynamic().run((0, happens), (1, None))
    assert status == fwk.Status.error(f"binding volumes: {text}")


def test_what_the_watch_has_not_shown_yet_is_waited_for():
    binding = static()
    assert binding.run((5, shown(claim(**BOUND))), (5, None)) is None
    binding = dynamic()
    bound_first = claim(storage_class="csi", resource_version="3", selected="a", volume="new")
    assert binding.run((5, shown(bound_first)), (5, None)) is None  # its volume is still unknown


@pytest.mark.parametrize(
    ("timeout", "before"),
    [
        pytest.param(600, 599.5, id="default"),
        pytest.param(1, 0.5, id="one-second"),
        pytest.param(0, None, id="no-wait-at-all"),
    ],
)
def test_the_wait_ends(timeout, before):
    if before is not None:
        assert static(bind_timeout_seconds=timeout).run((before, None)) is None
    binding = static(bind_timeout_seconds=timeout)
    steps = [(1, None)] * timeout
    status = binding.run(*steps, (0, None))
    assert status == fwk.Status.error("binding volumes: context deadline exceeded")


def test_what_an_earlier_attempt_wrote_is_not_written_again():
    binding = Binding(storage_class(), claim(), volume(claim=claim()))
    assert binding.run((1, shown(claim(**BOUND))), (1, None)).ok
    assert binding.writes == []
    binding = Binding(
        storage_class("csi", provisioner=CSI), claim(storage_class="csi", selected="a")
    )
    bound = claim(storage_class="csi", selected="a", volume="pv", resource_version="2")
    assert binding.run((1, shown(bound, volume(storage_class="csi"))), (1, None)).ok
    assert binding.writes == []


class Failing:
    """A client whose writes fail; what it is asked to read it answers from ``stored``."""

    def __init__(self, fault, stored=None):
        self.fault = fault
        self.stored = stored
        self.reads = 0

    async def bind_volume(self, volume, claim, annotations):
        raise self.fault

    async def annotate_claim(self, claim, annotations):
        raise self.fault

    async def read(self, kind, key):
        self.reads += 1
        if isinstance(self.stored, Exception):
            raise self.stored
        return self.stored


@pytest.mark.parametrize("build", [static, dynamic])
@pytest.mark.parametrize(
    "fault",
    [Conflict("changed", 409), NotFound("gone", 404), ApiError("the server is on fire")],
    ids=lambda fault: type(fault).__name__,
)
def test_a_write_that_fails_ends_the_attempt(build, fault):
    binding = build()
    binding.handle.client = Failing(fault)
    assert binding.run() == fwk.Status.error(fault)


@pytest.mark.parametrize(
    "fault",
    [Conflict("changed", 409), NotFound("gone", 404), Forbidden("no right", 403)],
    ids=lambda fault: type(fault).__name__,
)
def test_after_a_clear_answer_everything_is_given_back(fault):
    binding = static()
    binding.handle.client = Failing(fault)
    binding.run()
    binding.plugin.unreserve(binding.state, binding.pod, "a")
    assert not len(binding.cluster.assumed(PersistentVolume))
    assert binding.handle.spawned == []


@pytest.mark.parametrize(
    ("stored", "is_kept"),
    [
        pytest.param(volume(), False, id="it-was-not-written"),
        pytest.param(volume(**TOOK), True, id="it-was-written"),
        pytest.param(NotFound("gone", 404), False, id="it-is-gone"),
    ],
)
def test_what_is_in_doubt_is_found_out(stored, is_kept):
    binding = static()
    binding.handle.client = Failing(ApiError("timeout"), stored)
    binding.run()
    binding.plugin.unreserve(binding.state, binding.pod, "a")
    assert len(binding.cluster.assumed(PersistentVolume)) == 1  # nobody knows yet

    [(name, work)] = binding.handle.spawned
    assert name == "write of PersistentVolume pv"
    asyncio.run(work)
    assert bool(len(binding.cluster.assumed(PersistentVolume))) is is_kept
    binding.cluster.set_object(volume(**TOOK))
    assert not len(binding.cluster.assumed(PersistentVolume))


def test_what_is_in_doubt_is_asked_until_there_is_an_answer():
    binding = static()
    client = binding.handle.client = Failing(ApiError("timeout"), ApiError("timeout"))
    binding.run()
    binding.plugin.unreserve(binding.state, binding.pod, "a")
    [(_, work)] = binding.handle.spawned

    async def pass_time():
        task = asyncio.ensure_future(work)
        for _ in range(3):
            await _settle()
            binding.handle.clock.advance(5)
        client.stored = volume()
        await _settle()
        assert task.done()

    asyncio.run(pass_time())
    assert client.reads == 4
    assert not len(binding.cluster.assumed(PersistentVolume))


def test_a_write_that_is_cut_off_is_in_doubt():
    """The binding is called off while the API has the request."""
    binding = static()
    release = asyncio.Event()

    class Slow(Failing):
        async def bind_volume(self, volume, claim, annotations):
            await release.wait()

    binding.handle.client = Slow(None, volume())
    assert binding.run() is None  # cancelled
    binding.plugin.unreserve(binding.state, binding.pod, "a")
    assert len(binding.handle.spawned) == 1
    asyncio.run(binding.handle.spawned[0][1])
    assert not len(binding.cluster.assumed(PersistentVolume))


def test_what_was_written_stays_taken_until_the_watch_shows_it():
    """A second volume must not be given to the claim because its first one is news."""
    binding = Binding(storage_class(), claim(), volume("pv"), volume("pw", storage="2Gi"))
    binding.run()  # written; the wait is called off
    binding.plugin.unreserve(binding.state, binding.pod, "a")
    assert len(binding.cluster.assumed(PersistentVolume)) == 1

    assert binding.reserve("a", "data").ok
    reserved = binding.cluster.assumed(PersistentVolume).get("pw")
    assert reserved.spec.claim_ref is None
    binding.cluster.set_object(msgspec.structs.replace(volume(**TOOK)))
    assert not len(binding.cluster.assumed(PersistentVolume))
