"""Random storage objects from few values, in two worlds.

In the first, claims are mostly bound: what counts is where their volumes are and how many a node
may have. In the second, claims are mostly open: VolumeBinding has to find volumes for them.
"""

from typing import Any

from hypothesis import strategies as st

from tests.support.storage import (
    DRIVER,
    EBS,
    EBS_DRIVER,
    HOST,
    ZONE,
    attachment,
    claim,
    csi_node,
    driver,
    ephemeral,
    pool,
    storage_class,
    topologies,
    uses,
    volume,
)

# --- claims that are bound -----------------------------------------------------------------------

BOUND_CLAIMS = ("data", "more", "once")
BOUND_VOLUMES = ("pv-1", "pv-2", "pv-3", "pv-ebs")
NAMESPACES = ("default", "other")


@st.composite
def pod_volumes(draw):
    """The volumes of a pod: claims, an ephemeral one, disks that it may have to itself."""
    disk = {"pdName": "disk", "readOnly": draw(st.booleans())}
    return draw(
        st.sampled_from(
            (
                uses(draw(st.sampled_from(BOUND_CLAIMS))),
                uses(*draw(st.lists(st.sampled_from(BOUND_CLAIMS), max_size=3, unique=True))),
                uses("data", gcePersistentDisk=disk),
                uses(gcePersistentDisk=disk),
                uses(awsElasticBlockStore={"volumeID": "vol-1"}),
                [ephemeral()],
                [{"name": "config", "configMap": {"name": "web"}}],
            )
        )
    )


@st.composite
def bound_storage(draw):
    """Most of the objects that ``pod_volumes`` refer to: claims are mostly there, mostly bound."""
    objects = [draw(_bound_claims(name)) for name in BOUND_CLAIMS]
    objects += [draw(_bound_volumes(name)) for name in BOUND_VOLUMES[1:]]
    more = draw(st.lists(bound_storage_object(), max_size=8))
    return [storage_class("std", provisioner=DRIVER), *objects, *more]


def bound_storage_object():
    """Any one object of that world."""
    return st.one_of(_bound_claims(), _bound_volumes(), _classes(), _csi_nodes(), _attachments())


@st.composite
def _bound_claims(draw, name=""):
    name, owner = name or draw(st.sampled_from(BOUND_CLAIMS)), ""
    if name == "data" and draw(st.integers(0, 5)) == 0:
        name, owner = draw(st.sampled_from(("new-scratch", "p1-scratch"))), "uid-new"
    namespace = draw(st.sampled_from((*NAMESPACES, "default")))
    return claim(
        name,
        namespace=namespace,
        uid=f"uid-{namespace}-{name}",
        volume=draw(st.sampled_from((*BOUND_VOLUMES, ""))),
        storage_class=draw(st.sampled_from(("std", "std", "ebs", None))),
        access_modes=["ReadWriteOncePod" if name == "once" else "ReadWriteOnce"],
        owner=owner,
    )


@st.composite
def _bound_volumes(draw, name=""):
    name = name or draw(st.sampled_from(BOUND_VOLUMES))
    source: dict[str, Any] = {"csi": DRIVER}
    if name == "pv-ebs":
        source = {"aws_elastic_block_store": {"volumeID": "vol-1"}}
    labels = draw(st.sampled_from(("", "", f"{ZONE}=z1", f"{ZONE}=z1__z2")))
    return volume(name, labels=labels, phase="Bound", **source)


def _classes():
    made = (("std", DRIVER), ("std", EBS), ("ebs", EBS))
    return st.sampled_from([storage_class(name, provisioner=by) for name, by in made])


@st.composite
def _csi_nodes(draw):
    limits = {driver: draw(st.sampled_from((None, 0, 1, 2))) for driver in (DRIVER, EBS_DRIVER)}
    return csi_node(draw(st.sampled_from(("a", "b", "c"))), limits)


@st.composite
def _attachments(draw):
    node, name = draw(st.sampled_from(("a", "b"))), draw(st.sampled_from(BOUND_VOLUMES))
    return attachment(draw(st.sampled_from(("va-1", "va-2"))), node, name)


# --- claims that are open ------------------------------------------------------------------------

OPEN_CLAIMS = ("c0", "c1")
VOLUMES = ("v0", "v1", "v2")
CLASSES = ("standard", "csi", "now")
DISK = {"aws_elastic_block_store": {"volumeID": "vol-1"}}
PLACES = ({}, {ZONE: "z1"}, {ZONE: "z1 z2"}, {HOST: "a"}, {"disk": "ssd", ZONE: "z2"})


def open_claim_uses():
    """The volumes of a pod with one or two of these claims."""
    names = st.lists(st.sampled_from(OPEN_CLAIMS), min_size=1, max_size=2)
    return names.map(lambda found: uses(*found))


@st.composite
def open_storage(draw, version="1"):
    """Everything that open claims may meet; some of it is missing."""
    objects = draw(_descriptions())
    objects += [draw(_volumes(name, version)) for name in VOLUMES]
    objects += [draw(_open_claims(name, version)) for name in OPEN_CLAIMS]
    missing = draw(st.sets(st.integers(0, len(objects) - 1), max_size=2))
    return [obj for index, obj in enumerate(objects) if index not in missing]


def open_storage_change(version):
    """A new version of one of these claims or volumes."""
    some_claim = st.sampled_from(OPEN_CLAIMS).flatmap(lambda name: _open_claims(name, version))
    some_volume = st.sampled_from(VOLUMES).flatmap(lambda name: _volumes(name, version))
    return st.one_of(some_claim, some_volume)


@st.composite
def _descriptions(draw):
    """What says how storage is made: classes, a driver and its pool."""
    places = st.sampled_from(({}, {ZONE: "z1"}, {HOST: "a"}))
    allowed = topologies(draw(places))
    return [
        storage_class(),
        storage_class("csi", provisioner="csi.example.com", allowed_topologies=allowed),
        storage_class("now", volume_binding_mode="Immediate"),
        driver(checks_room=draw(st.booleans())),
        pool(on=draw(places), capacity=draw(st.sampled_from(("1Gi", "5Gi", None)))),
    ]


@st.composite
def _open_claims(draw, name, version="1"):
    kind = draw(st.sampled_from(("open", "open", "bound", "selected")))
    return claim(
        name,
        uid=f"uid-default-{name}",
        resource_version=version,
        storage_class=draw(st.sampled_from(CLASSES)),
        storage=draw(st.sampled_from(("1Gi", "2Gi"))),
        volume=draw(st.sampled_from(("v0", "v1", "gone"))) if kind == "bound" else "",
        selected=draw(st.sampled_from(("a", "b"))) if kind == "selected" else "",
    )


@st.composite
def _volumes(draw, name, version="1"):
    fields = draw(st.sampled_from(({}, {}, DISK, {"access_modes": ["ReadWriteMany"]})))
    return volume(
        name,
        resource_version=version,
        storage_class=draw(st.sampled_from(CLASSES[:2])),
        storage=draw(st.sampled_from(("1Gi", "2Gi"))),
        phase=draw(st.sampled_from(("Available", "Available", "Released"))),
        labels=draw(st.sampled_from(({}, {ZONE: "z1"}))),
        on=draw(st.sampled_from(PLACES)),
        claim=draw(st.sampled_from(OPEN_CLAIMS)) if draw(st.integers(0, 3)) == 0 else None,
        **fields,
    )
