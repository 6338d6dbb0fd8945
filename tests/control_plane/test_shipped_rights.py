"""The rights that deploy/ grants: podium needs no others, and uses every one of them.

The stories of other tests are played on a server with an audit log, and the log is compared with
the rules. podium runs once with streamed lists and once without: only then it lists.
"""

import contextlib

import pytest

from podium.release import V1_37
from tests.control_plane import test_scheduler_devices as devices
from tests.control_plane import test_scheduler_stories as stories
from tests.support.control_plane import shipped
from tests.support.control_plane.audit import audited_plane
from tests.support.control_plane.processes import free_port
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.cluster

DEVICES = "resource.k8s.io"
# Rights for what podium does only after a fault: it reads an object after a write that met a
# conflict or got no answer, and deletes a claim that it created for a pod that was not bound.
# tests/plugins plays these cases without a server.
AFTER_FAULTS = {
    ("", "pods", "get"),
    (DEVICES, "resourceclaims", "delete"),
    ("", "persistentvolumes", "get"),
    ("", "persistentvolumeclaims", "get"),
    (DEVICES, "resourceclaims", "get"),
}
# Rights that podium needs with GenericWorkload and CompositePodGroup, which are off by default.
BEHIND_A_GATE = {
    ("scheduling.k8s.io", "compositepodgroups", "list"),
    ("scheduling.k8s.io", "compositepodgroups", "watch"),
    ("scheduling.k8s.io", "podgroups", "list"),
    ("scheduling.k8s.io", "podgroups", "watch"),
    ("scheduling.k8s.io", "podgroups/status", "patch"),
}
# The server checks these inside of other requests.
INSIDE_OTHERS = {(DEVICES, "resourceclaims/binding", "patch")}
# Rights of a role that every cluster has; podium reads that ConfigMap and does not watch it.
OF_BUILT_IN_ROLES = {("", "configmaps", "list"), ("", "configmaps", "watch")}
SINCE_1_37 = {(DEVICES, "devicetaintrules", "list"), (DEVICES, "devicetaintrules", "watch")}


@pytest.fixture
def audited(binaries, tmp_path):
    with audited_plane(binaries, tmp_path) as running:
        yield running


def test_every_right_is_needed_and_none_is_missing(audited, binaries, podium, tmp_path):
    side = audited.side
    account, port = shipped.install(audited.plane, side), free_port()
    with podium(tmp_path, account, f"--secure-port={port}"):
        assert (
            shipped.get(port, "/metrics", shipped.token(side)) == 403
        )  # who asks may not, and is known
        for number, story in enumerate(STORIES):
            with stage_of(side, f"story-{number}") as stage:
                story(stage, binaries)
    with podium(tmp_path, account, "--feature-gates=WatchListClient=false", name="listing"):
        pass

    assert audited.all_refused(shipped.USER) == []
    used = {right_of(event) for event in audited.requests(shipped.USER) if "objectRef" in event}
    granted = granted_to(shipped.USER, side)
    not_seen = AFTER_FAULTS | BEHIND_A_GATE | INSIDE_OTHERS | OF_BUILT_IN_ROLES
    not_seen |= set() if binaries.release >= V1_37 else SINCE_1_37
    assert granted - used == not_seen
    assert used <= granted


@contextlib.contextmanager
def stage_of(side, name):
    stage = Stage(side, name)
    try:
        yield stage
    finally:
        stage.clear()


def with_devices(story):
    """A story of the tests about devices; their fixture frees all claims at its end."""

    def play(stage, binaries):
        of_stage = devices.devices.__wrapped__(stage)
        try:
            story(stage, next(of_stage))
        finally:
            next(of_stage, None)

    return play


def repeated_failure(stage, binaries):
    """A pod that is tried three times in vain: its event is counted, not written anew."""
    stage.nodes("a")
    stage.pod("big", requests={"cpu": "9"})
    stage.until_told("big", "FailedScheduling")
    for name in ("one", "two", "three"):
        stage.pod(name)
        stage.until_bound(name)
        stage.delete(stage.core(f"pods/{name}"))
    events = f"/apis/events.k8s.io/v1/namespaces/{stage.namespace}/events"
    stage.side.wait_for(events, lambda event: "series" in event)


STORIES = [
    lambda stage, binaries: stories.test_preemption(stage, binaries),
    lambda stage, _: stories.test_a_static_volume_is_bound_where_the_pod_goes(stage),
    lambda stage, _: stories.test_a_volume_is_provisioned_where_the_pod_goes(stage),
    with_devices(devices.test_claim_by_name),
    with_devices(devices.test_deallocation),
    with_devices(devices.test_extended_resources),
    repeated_failure,
]


def right_of(event):
    at = event["objectRef"]
    resource = "/".join(filter(None, (at["resource"], at.get("subresource"))))
    return at.get("apiGroup", ""), resource, event["verb"]


def granted_to(user, side):
    """Every right in the roles that are bound to a service account."""
    name = user.rpartition(":")[2]
    found = set()
    for binding in ("clusterrolebindings", "namespaces/kube-system/rolebindings"):
        root = "/apis/rbac.authorization.k8s.io/v1"
        _, bindings, _ = side.request("GET", f"{root}/{binding}")
        for each in bindings["items"]:
            if any(subject["name"] == name for subject in each.get("subjects", ())):
                where = binding.replace("bindings", "s")
                _, role, _ = side.request("GET", f"{root}/{where}/{each['roleRef']['name']}")
                found |= rights_of(role["rules"])
    return found


def rights_of(rules):
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
