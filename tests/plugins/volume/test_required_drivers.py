"""VolumeLimitScaling: nodes that lack a driver which must be installed."""

import pytest

from podium import framework as fwk
from podium.api.objects import CSIDriver, CSIDriverSpec, CSINode, ObjectMeta
from podium.plugins.volume.limits import EXCEEDED
from podium.plugins.volume.node_volume_limits import DriverRequiringVolumeLimits
from podium.release import RELEASES, V1_37
from podium.testing.builders import node, pod
from tests.support.releases import registry_of
from tests.support.storage import (
    DRIVER,
    EBS,
    EBS_DRIVER,
    claim,
    csi_node,
    storage_class,
    uses,
    volume,
)
from tests.support.volume_plugins import Judge

OTHER = "other.example.com"
EBS_DISK = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


def driver(name=DRIVER, prevents=True):
    spec = CSIDriverSpec(prevent_pod_scheduling_if_missing=prevents)
    return CSIDriver(metadata=ObjectMeta(name=name), spec=spec)


def missing(name=DRIVER):
    return fwk.Status.unschedulable(f"{name} CSI driver is not installed on the node")


NODES = (
    node("has"),
    node("lacks"),
    node("bare"),
    csi_node("has", {DRIVER: 1, EBS_DRIVER: 1, OTHER: 1}),
    csi_node("lacks", {"unknown.example.com": 1}),
)  # `bare` has no CSINode
BOUND = (claim(volume="pv"), volume(csi=DRIVER))
UNBOUND = (claim(storage_class="std"), storage_class("std", provisioner=DRIVER))
IN_TREE = (claim(storage_class="std"), storage_class("std", provisioner=EBS))
IN_TREE_VOLUME = (claim(volume="pv"), volume(aws_elastic_block_store={"volumeID": "vol-1"}))
PREPROVISIONED = (claim(volume="pv"), volume(csi=EBS_DRIVER))


@pytest.mark.parametrize(
    ("drivers", "storage", "lacking"),
    [
        pytest.param([driver()], BOUND, "bare lacks", id="bound-claim"),
        pytest.param([driver()], UNBOUND, "bare lacks", id="unbound-claim"),
        pytest.param([driver(prevents=False)], BOUND, "", id="the-driver-does-not-mind"),
        pytest.param([driver(prevents=None)], BOUND, "", id="the-driver-does-not-say"),
        pytest.param([], BOUND, "", id="no-such-driver"),
        pytest.param([driver(OTHER)], BOUND, "", id="another-driver-minds"),
        pytest.param([driver(EBS_DRIVER)], IN_TREE, "lacks", id="in-tree-class"),
        pytest.param([driver(EBS_DRIVER)], IN_TREE_VOLUME, "lacks", id="in-tree-volume"),
        pytest.param([driver(EBS_DRIVER)], PREPROVISIONED, "bare lacks", id="its-own-volume"),
    ],
)
def test_nodes_without_the_driver(drivers, storage, lacking):
    judge = Judge(DriverRequiringVolumeLimits, *NODES, *drivers, *storage)

    found = judge.verdicts(pod(volumes=uses("data")))
    refused = {name: status for name, status in found.items() if not status.ok}
    named = drivers[0].name if drivers else ""
    assert refused == dict.fromkeys(lacking.split(), missing(named))


def test_an_in_tree_volume_in_the_pod():
    judge = Judge(DriverRequiringVolumeLimits, *NODES, driver(EBS_DRIVER))

    assert judge.rejected(pod(volumes=uses(**EBS_DISK))) == "lacks"


def test_the_driver_comes_before_limits_and_the_first_is_named():
    both = claim("a", volume="pv-a"), claim("b", volume="pv-b")
    volumes = volume("pv-a", csi=DRIVER), volume("pv-b", csi=OTHER)
    full = pod("there", node="has", volumes=uses("x"))
    judge = Judge(
        DriverRequiringVolumeLimits, *NODES, *both, *volumes, driver(), driver(OTHER),
        claim("x", volume="pv-x"), volume("pv-x", csi=DRIVER), full,
    )  # fmt: skip

    verdicts = judge.verdicts(pod(volumes=uses("a", "b")))

    assert verdicts == {"has": EXCEEDED, "lacks": missing(DRIVER), "bare": missing(DRIVER)}
    assert judge.dry_run(pod(volumes=uses("a", "b")), (full, "has", -1))["has"].ok
    without_pre_filter = judge.dry_run(pod(volumes=uses("a", "b")), follow=False)
    assert without_pre_filter["lacks"] == missing(DRIVER)


def test_claims_that_are_missing_come_first():
    judge = Judge(DriverRequiringVolumeLimits, *NODES, driver(), *BOUND)
    found = judge.verdicts(pod(volumes=uses("data", "gone")))

    assert {status.code for status in found.values()} == {fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE}


def test_pods_are_equal_only_as_far_as_drivers_are_required():
    judge = Judge(DriverRequiringVolumeLimits, *NODES, *BOUND)
    subject, sign = pod(volumes=uses("data")), judge.plugin.sign
    before = sign(subject)
    judge.cluster.set_object(driver())

    assert sign(subject) != before
    assert sign(pod()) == sign(pod("other"))


def test_what_the_csi_node_lists_is_noticed():
    judge = Judge(DriverRequiringVolumeLimits, *NODES, *BOUND, driver())
    subject = pod(volumes=uses("data"))
    assert not judge.verdicts(subject)["bare"].ok

    judge.cluster.set_object(csi_node("bare", {DRIVER: 1}))
    assert judge.verdicts(subject)["bare"].ok
    judge.cluster.remove_object(CSINode, "bare")
    assert not judge.verdicts(subject)["bare"].ok
    judge.cluster.check_invariants()


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("chosen", [None, True, False], ids=["default", "on", "off"])
def test_the_gate_in_both_releases(release, chosen):
    gates = {} if chosen is None else {"VolumeLimitScaling": chosen}
    registry = registry_of(release, **gates)
    judge = Judge(DriverRequiringVolumeLimits, *NODES, *BOUND, driver())
    judge.plugin = registry.build("NodeVolumeLimits", fwk.NoArgs(), judge.handle)

    is_on = release == V1_37 if chosen is None else chosen
    assert judge.rejected(pod(volumes=uses("data"))) == ("barelacks" if is_on else "")
