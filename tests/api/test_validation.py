import pytest

from podium.api.objects import (
    CSIStorageCapacity,
    Node,
    PersistentVolumeClaim,
    Pod,
    PriorityClass,
    ResourceSlice,
    decode,
    validate,
)
from podium.errors import InvalidObject

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod(spec=None, status=None, **meta):
    return decode(
        Pod, {"metadata": {"name": "p", **meta}, "spec": spec or {}, "status": status or {}}
    )


def asking(**requests):
    return {"containers": [{"name": "c", "resources": {"requests": requests}}]}


def preferring(kind, weight):
    return {"affinity": {kind: {PREFERRED: [{"weight": weight}]}}}


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(pod(asking(cpu="100m", memory="1Gi")), id="usual"),
        pytest.param(pod(asking(memory="1e30")), id="absurdly-large-is-clamped-later"),
        pytest.param(pod({"priority": -(2**31)}), id="lowest-priority"),
        pytest.param(pod({"topologySpreadConstraints": [{"maxSkew": 1}]}), id="spread"),
        pytest.param(
            pod({"topologySpreadConstraints": [{"maxSkew": 2**31 - 1, "minDomains": 2**31 - 1}]}),
            id="largest-spread",
        ),
        pytest.param(pod({"containers": [{"ports": [{"hostPort": 65_535}]}]}), id="last-port"),
        pytest.param(pod(ownerReferences=[{"controller": True}, {"name": "b"}]), id="one-owner"),
    ],
)  # fmt: skip
def test_valid(obj):
    validate(obj)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param(Pod(), "Pod: metadata.name: must not be empty", id="name"),
        pytest.param(
            decode(Pod, {"metadata": {"name": "a/b"}}),
            "Pod a/b: metadata.name: must not contain '/', not 'a/b'",
            id="name-with-a-slash",
        ),
        pytest.param(
            pod(asking(cpu="1K"), namespace="n"),
            "Pod n/p: spec.containers[0].resources.requests[cpu]: "
            "'1K': unable to parse quantity's suffix",
            id="quantity",
        ),
        pytest.param(
            pod(asking(memory="-1Gi")),
            "Pod p: spec.containers[0].resources.requests[memory]: must not be negative, not -1Gi",
            id="negative",
        ),
        pytest.param(
            pod({"overhead": {"cpu": ""}}), "Pod p: spec.overhead[cpu]: '': quantities", id="empty"
        ),
        pytest.param(
            pod(status={"containerStatuses": [{"allocatedResources": {"cpu": "x"}}]}),
            "Pod p: status.containerStatuses[0].allocatedResources[cpu]",
            id="status",
        ),
        pytest.param(
            pod({"topologySpreadConstraints": [{"maxSkew": 1}, {}]}),
            "Pod p: spec.topologySpreadConstraints[1].maxSkew: must be greater than zero, not 0",
            id="skew",
        ),
        pytest.param(
            pod({"topologySpreadConstraints": [{"maxSkew": 2**31}]}),
            "Pod p: spec.topologySpreadConstraints[0].maxSkew: must be a 32-bit integer, not 21",
            id="enormous-skew",
        ),
        pytest.param(
            pod({"topologySpreadConstraints": [{"maxSkew": 1, "minDomains": 0}]}),
            "Pod p: spec.topologySpreadConstraints[0].minDomains: must be greater than zero, not 0",
            id="domains",
        ),
        pytest.param(
            pod({"topologySpreadConstraints": [{"maxSkew": 1, "minDomains": 2**31}]}),
            "Pod p: spec.topologySpreadConstraints[0].minDomains: must be a 32-bit integer, not 21",
            id="enormous-domains",
        ),
        *(
            pytest.param(
                pod({field: [{"ports": [{"containerPort": 80}, {"hostPort": port}]}]}),
                f"Pod p: spec.{field}[0].ports[1].hostPort: must be from 0 to 65535, not {port}",
                id=f"{field}-{port}",
            )
            for field in ("containers", "initContainers")
            for port in (-1, 65_536)
        ),
        *(
            pytest.param(
                pod(preferring(kind, weight)),
                f"Pod p: spec.affinity.{kind}.{PREFERRED}[0].weight: "
                f"must be from 1 to 100, not {weight}",
                id=f"{kind}-{weight}",
            )
            for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity")
            for weight in (-1, 0, 101)
        ),
        pytest.param(
            pod({"priority": 2**31}), "Pod p: spec.priority: must be a 32-bit", id="priority"
        ),
        pytest.param(
            pod(ownerReferences=[{"name": x, "controller": True} for x in "ab"]),
            "Pod p: metadata.ownerReferences: only one owner can be the controller, not a, b",
            id="owners",
        ),
        pytest.param(
            pod(deletionTimestamp="soon"),
            "Pod p: metadata.deletionTimestamp: 'soon' is not an RFC 3339 time",
            id="time",
        ),
        pytest.param(
            decode(Node, {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "-1"}}}),
            "Node n: status.allocatable[cpu]: must not be negative, not -1",
            id="node",
        ),
        pytest.param(
            decode(
                PersistentVolumeClaim,
                {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "1x"}}}},
            ),
            "PersistentVolumeClaim c: spec.resources.requests[storage]: '1x'",
            id="claim",
        ),
        pytest.param(
            decode(CSIStorageCapacity, {"metadata": {"name": "c"}, "capacity": "-1"}),
            "CSIStorageCapacity c: capacity: must not be negative",
            id="capacity",
        ),
        pytest.param(
            decode(PriorityClass, {"metadata": {"name": "c"}, "value": 2**40}),
            "PriorityClass c: value: must be a 32-bit integer",
            id="priority-class",
        ),
    ],
)
def test_invalid(obj, message):
    with pytest.raises(InvalidObject) as caught:
        validate(obj)

    assert str(caught.value).startswith(message)


def test_all_problems_are_reported_at_once():
    with pytest.raises(InvalidObject) as caught:
        validate(pod({**asking(cpu="1K", memory="-1"), "priority": 2**40}))

    assert len(caught.value.problems) == 3
    assert str(caught.value).startswith("Pod p has 3 problems\n  spec.priority: must be")


def test_amounts_of_devices_are_checked():
    consumed = {"counterSet": "c", "counters": {"x": {"value": "?"}}}
    counted = {"name": "b", "consumesCounters": [consumed]}
    devices = [{"name": "a", "capacity": {"memory": {"value": "-1"}}}, counted]
    made = decode(ResourceSlice, {"metadata": {"name": "s"}, "spec": {"devices": devices}})

    with pytest.raises(InvalidObject) as refused:
        validate(made)

    assert [problem.path for problem in refused.value.problems] == [
        "spec.devices[0].capacity[memory].value",
        "spec.devices[1].consumesCounters[0].counters[x].value",
    ]
