"""Pods with resource claims: podium and kube-scheduler do and say the same.

There are no controllers and no drivers here: the tests make claims from templates, free them, and
report what drivers do.
"""

import pytest

from podium.release import V1_37
from tests.control_plane.test_scheduler_stories import bound, pending
from tests.support.control_plane.comparison import MERGE

pytestmark = pytest.mark.cluster

DRIVER = "gpu.example.com"
GROUP = "/apis/resource.k8s.io/v1"
TAINT_RULES = f"{GROUP}/devicetaintrules"
EXTENDED = "example.com/gpu"
UNHELPFUL = "preemption: 0/{0} nodes are available: {0} Preemption is not helpful for scheduling."


class Devices:
    """Classes, slices and claims of one story; all claims are freed at its end."""

    def __init__(self, stage) -> None:
        self.stage = stage
        self.claims = f"{GROUP}/namespaces/{stage.namespace}/resourceclaims"

    def cls(self, name="gpu", **spec):
        expression = f'device.driver == "{DRIVER}"'
        selectors = [{"cel": {"expression": expression}}]
        body = {"metadata": {"name": name}, "spec": {"selectors": selectors, **spec}}
        return self.stage.create(f"{GROUP}/deviceclasses", body)

    def slice(self, node, *devices, **fields):
        listed = [{"name": name, **fields} for name in devices]
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": listed}
        return self.stage.create(
            f"{GROUP}/resourceslices", {"metadata": {"name": f"{node}-gpus"}, "spec": spec}
        )

    def claim(self, name, count=1, cls="gpu", **metadata):
        exactly = {"deviceClassName": cls, "allocationMode": "ExactCount", "count": count}
        spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
        body = {"metadata": {"name": name, **metadata}, "spec": spec}
        return self.stage.create(self.claims, body)

    def get(self, name):
        return self.stage.get(f"{self.claims}/{name}")

    def status(self, name, status):
        return self.stage.patch(f"{self.claims}/{name}/status", {"status": status}, MERGE)

    def until(self, name, is_so):
        return self.stage.until(self.claims, name, lambda claim: is_so(claim.get("status", {})))

    def free_all(self):
        """Do what controllers do when all pods are gone."""
        for claim in self.stage.get(self.claims)["items"]:
            name = claim["metadata"]["name"]
            self.status(name, {"reservedFor": None, "allocation": None, "devices": None})
            self.stage.patch(f"{self.claims}/{name}", {"metadata": {"finalizers": None}}, MERGE)
            self.stage.delete(f"{self.claims}/{name}")


@pytest.fixture
def devices(stage):
    found = Devices(stage)
    yield found
    for pod in stage.get(stage.core("pods"))["items"]:
        stage.delete(stage.core(f"pods/{pod['metadata']['name']}"))
    found.free_all()


@pytest.fixture
def no_help(binaries):
    """What DynamicResources adds to messages if it cannot help."""
    return "" if binaries.release >= V1_37 else "still not schedulable, "


def names(claim):
    return [result["device"] for result in claim["status"]["allocation"]["devices"]["results"]]


def users(claim):
    return [consumer["name"] for consumer in claim["status"].get("reservedFor", ())]


def using(*claims):
    references = [{"name": f"c{at}", "resourceClaimName": c} for at, c in enumerate(claims)]
    return {"resourceClaims": references}


def test_claim_by_name(stage, devices):
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0", "gpu-1")
    devices.claim("mine")
    pod = stage.pod("web", **using("mine"))
    stage.until_bound("web")
    stage.until_told("web", "Scheduled")

    assert stage.outcome("web") == bound("a")
    claim = devices.get("mine")
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    uid = pod["metadata"]["uid"]
    assert claim["status"]["reservedFor"] == [{"resource": "pods", "name": "web", "uid": uid}]
    allocation = claim["status"]["allocation"]
    assert allocation.pop("allocationTimestamp")
    field = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    result = {"request": "r", "driver": DRIVER, "pool": "a", "device": "gpu-0"}
    assert allocation == {
        "devices": {"results": [result]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
    }


def test_claim_from_a_template(stage, devices):
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0")
    pod = stage.pod("web", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": pod["metadata"]["uid"]}
    devices.claim("web-gpu-x", ownerReferences=[{**owner, "controller": True}])
    assert stage.outcome("web")["node"] is None
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-gpu-x"}]}
    stage.patch(stage.core("pods/web/status"), {"status": made})

    stage.until_bound("web")
    assert names(devices.get("web-gpu-x")) == ["gpu-0"]


def test_shared_claim(stage, devices):
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0")
    devices.claim("shared")
    for name in ("one", "two", "three"):
        stage.pod(name, **using("shared"))
    stage.until_bound("one", "two", "three")

    claim = devices.until("shared", lambda status: len(status.get("reservedFor", ())) == 3)
    assert sorted(users(claim)) == ["one", "three", "two"]
    assert names(claim) == ["gpu-0"]


def test_devices_that_are_taken_and_become_free(stage, devices, no_help):
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0", "gpu-1")
    devices.claim("both", count=2)
    devices.claim("one")
    stage.pod("first", **using("both"))
    stage.until_bound("first")
    stage.pod("second", **using("one"))
    why = f"0/1 nodes are available: 1 cannot allocate all claims. {no_help}{UNHELPFUL.format(1)}"
    assert stage.until_failed("second") == why
    assert stage.outcome("second") == pending(why)

    stage.delete(stage.core("pods/first"))
    devices.status("both", {"reservedFor": None, "allocation": None})
    stage.until_bound("second")
    assert names(devices.get("one")) == ["gpu-0"]


def test_class_that_does_not_exist(stage, devices, binaries):
    stage.nodes("a")
    devices.slice("a", "gpu-0")
    devices.claim("mine", cls="later")
    stage.pod("web", **using("mine"))
    reported = "" if binaries.release >= V1_37 else "no new claims to deallocate, "
    why = (
        "0/1 nodes are available: request r: device class later does not exist. "
        f"{reported}{UNHELPFUL.format(1)}"
    )
    assert stage.until_failed("web") == why

    devices.cls("later")
    stage.until_bound("web")


def test_deallocation(stage, devices):
    """The claim has a device of a node on which the pod may not run."""
    stage.nodes("a", "b")
    devices.cls()
    devices.slice("a", "gpu-0")
    devices.slice("b", "gpu-0")
    devices.claim("mine")
    stage.pod("first", **using("mine"), nodeSelector={"kubernetes.io/hostname": "a"})
    stage.until_bound("first")
    stage.delete(stage.core("pods/first"))
    devices.status("mine", {"reservedFor": None})
    stage.pod("second", **using("mine"), nodeSelector={"kubernetes.io/hostname": "b"})

    why = (
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 resourceclaim not available on the node. deallocation of ResourceClaim completed, "
        f"{UNHELPFUL.format(2)}"
    )
    assert stage.until_failed("second") == why
    stage.until_bound("second")
    [result] = devices.get("mine")["status"]["allocation"]["devices"]["results"]
    assert result["pool"] == "b"


def report(devices, name, condition):
    """Do what a driver does."""
    [result] = devices.get(name)["status"]["allocation"]["devices"]["results"]
    named = {key: result[key] for key in ("driver", "pool", "device")}
    found = {"type": condition, "status": "True", "reason": "Cable", "message": "is loose"}
    found["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    devices.status(name, {"devices": [{**named, "conditions": [found]}]})


NEEDY = {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}


def test_binding_conditions(stage, devices):
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0", **NEEDY)
    devices.claim("mine")
    stage.pod("web", **using("mine"))
    note = "waiting for binding conditions for device on node a"
    assert stage.until_told("web", "BindingConditionsPending") == note
    assert stage.outcome("web")["node"] is None

    report(devices, "mine", "Ready")
    stage.until_bound("web")


def test_binding_that_fails(stage, devices):
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0", **NEEDY)
    devices.claim("mine")
    stage.pod("web", **using("mine"))
    stage.until_told("web", "BindingConditionsPending")
    report(devices, "mine", "Broken")

    why = 'device binding failed: claim=mine, reason=Cable, message="is loose"'
    text = f'running PreBind plugin "DynamicResources": {why}'
    assert stage.until_failed("web") == text
    # The next attempt finds the claim useless and frees it, and the one after it allocates it anew.
    devices.until("mine", lambda status: not status.get("allocation"))
    devices.until("mine", lambda status: status.get("allocation"))
    report(devices, "mine", "Ready")
    stage.until_bound("web")


def test_taint_rules(stage, devices, binaries):
    if binaries.release < V1_37:
        pytest.skip("rules that taint devices are off by default before 1.37")
    stage.nodes("a")
    devices.cls()
    devices.slice("a", "gpu-0")
    devices.claim("mine")
    taint = {"key": "broken", "effect": "NoSchedule"}
    spec = {"deviceSelector": {"driver": DRIVER}, "taint": taint}
    stage.create(TAINT_RULES, {"metadata": {"name": "broken"}, "spec": spec})
    stage.pod("web", **using("mine"))
    why = f"0/1 nodes are available: 1 cannot allocate all claims. {UNHELPFUL.format(1)}"
    assert stage.until_failed("web") == why

    stage.delete(f"{TAINT_RULES}/broken")
    stage.until_bound("web")


def test_extended_resources(stage, devices):
    stage.nodes("a")
    devices.cls(extendedResourceName=EXTENDED)
    devices.slice("a", "gpu-0", "gpu-1")
    resources = {"requests": {EXTENDED: "2"}, "limits": {EXTENDED: "2"}}
    container = {"name": "c", "image": "app:1", "resources": resources}
    body = {"metadata": {"name": "web"}, "spec": {"containers": [container]}}
    pod = stage.create(stage.core("pods"), body)
    stage.until_bound("web")

    status = stage.get(stage.core("pods/web"))["status"]["extendedResourceClaimStatus"]
    name = status["resourceClaimName"]
    assert name.startswith("web-extended-resources-")
    [mapping] = status["requestMappings"]
    assert mapping == {
        "containerName": "c",
        "resourceName": EXTENDED,
        "requestName": "container-0-request-0",
    }
    claim = devices.get(name)
    assert names(claim) == ["gpu-0", "gpu-1"]
    assert users(claim) == ["web"]
    [owner] = claim["metadata"]["ownerReferences"]
    assert owner["uid"] == pod["metadata"]["uid"]
