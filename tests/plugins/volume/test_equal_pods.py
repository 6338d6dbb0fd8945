"""What is kept of equal pods with volumes never changes a decision."""

from hypothesis import given
from hypothesis import strategies as st

from podium import app, config
from podium.config import upstream
from podium.framework.queued_pod import QueuedPod
from podium.state.cluster import load
from podium.testing.builders import node, pod
from tests.support.generated_storage import (
    NAMESPACES,
    bound_storage,
    bound_storage_object,
    pod_volumes,
)
from tests.support.search import examples
from tests.support.storage import DRIVER, ZONE, claim, csi_node, uses, volume

# VolumeBinding would turn most of these pods away before a node is looked at.
PROFILE = {"plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}]}}}
VALUE = {"apiVersion": upstream.API_VERSION, "kind": upstream.KIND, "profiles": [PROFILE]}

OWN_NAMES = tuple(f"own-{number}" for number in range(6))
OWN_CLAIMS = [
    made
    for name in OWN_NAMES
    for made in (claim(name, volume=f"pv-{name}"), volume(f"pv-{name}", csi=DRIVER))
]


def cores(objects):
    """Two cores fed alike: one keeps what it knows of equal pods, the other starts from scratch."""
    configuration = config.from_value(VALUE, app.in_tree())
    keeping, scratch = (app.build(configuration, reuses=reuses) for reuses in (True, False))
    for core in (keeping, scratch):
        load(core.cluster, objects)
    return keeping, scratch


def attempt(core, subject):
    record = core.cycle(QueuedPod.of(subject)).run().record
    core.background.run()
    return record.feasible, record.rejected, record.best, record.message


@st.composite
def a_limit(draw):
    return csi_node(draw(st.sampled_from("abc")), {DRIVER: draw(st.integers(0, 4))})


@examples(200)
@given(objects=bound_storage(), data=st.data())
def test_reuse_equals_scratch(objects, data):
    zones = {name: data.draw(st.sampled_from(("z1", "z2"))) for name in "abc"}
    nodes = [node(name, labels={ZONE: zone}) for name, zone in zones.items()]
    limits = [csi_node(name, {DRIVER: data.draw(st.integers(1, 3))}) for name in "abc"]
    both = cores([*nodes, *limits, *OWN_CLAIMS, *objects])
    volumes = [data.draw(pod_volumes()), *map(uses, OWN_NAMES)]
    for number in range(data.draw(st.integers(1, 14))):
        if data.draw(st.integers(0, 2)):
            subject = pod(
                f"p{number}",
                namespace=data.draw(st.sampled_from((*NAMESPACES, "default"))),
                volumes=data.draw(st.sampled_from(volumes)),
                priority=data.draw(st.sampled_from((0, 10))),
            )
            first, second = (attempt(core, subject) for core in both)
            assert first == second
        else:
            fresh = data.draw(st.one_of(bound_storage_object(), a_limit()))
            for core in both:
                core.cluster.set_object(fresh)
    both[0].cluster.check_invariants()
