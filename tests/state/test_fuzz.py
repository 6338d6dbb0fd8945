"""Thousands of broken objects: podium refuses them in its own words, or bears them."""

import copy
import json
import random
from collections import Counter

import pytest

from podium.api.objects import (
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    Service,
    decode,
    validate,
)
from podium.api.selectors import RequiredNodeAffinity
from podium.errors import InvalidObject, PodiumError
from podium.framework.workload_selectors import default_selector
from podium.state.cluster import ClusterState
from podium.state.pod_groups import Clause, PodQuery
from podium.state.pod_info import PodInfo

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SELECTOR = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["front", "back"]}],
}
TERM = {
    "labelSelector": SELECTOR,
    "topologyKey": "kubernetes.io/hostname",
    "namespaces": ["default"],
    "namespaceSelector": {"matchLabels": {"team": "blue"}},
}

A_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "namespace": "default",
        "uid": "u1",
        "labels": {"app": "web", "tier": "front"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": None,
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "r",
                "uid": "u",
                "controller": True,
            }
        ],
    },
    "spec": {
        "nodeName": "n1",
        "priority": 10,
        "containers": [
            {
                "name": "c",
                "image": "app:1",
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
                "resources": {
                    "requests": {"cpu": "500m", "memory": "1Gi", "example.com/gpu": 1},
                    "limits": {"memory": "2Gi"},
                },
            }
        ],
        "initContainers": [
            {"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
        ],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 30}],
        "affinity": {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [{"key": "a", "operator": "Gt", "values": ["3"]}],
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["n1"]}
                            ],
                        }
                    ]
                },
            },
            "podAffinity": {REQUIRED: [TERM]},
            "podAntiAffinity": {PREFERRED: [{"weight": 50, "podAffinityTerm": TERM}]},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": SELECTOR,
                "minDomains": 2,
            }
        ],
        "volumes": [
            {"name": "v", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "d", "gcePersistentDisk": {"pdName": "disk", "readOnly": True}},
        ],
        "overhead": {"cpu": "10m"},
        "resources": {"requests": {"cpu": "2"}},
        "schedulingGates": [{"name": "g"}],
    },
    "status": {
        "phase": "Running",
        "nominatedNodeName": "n2",
        "startTime": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": 1}}
        ],
    },
}

A_NODE = {
    "metadata": {
        "name": "n1",
        "uid": "u2",
        "labels": {"topology.kubernetes.io/zone": "z", "disk": "ssd"},
        "annotations": {"a": "1"},
    },
    "spec": {
        "unschedulable": False,
        "taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule", "timeAdded": None}],
    },
    "status": {
        "capacity": {"cpu": "4", "memory": "16Gi", "pods": 110},
        "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110", "example.com/gpu": "4"},
        "images": [{"names": ["app:1", "app@sha256:1"], "sizeBytes": 123456}],
        "conditions": [{"type": "Ready", "status": "True"}],
        "declaredFeatures": ["F"],
        "volumesInUse": ["v"],
    },
}

A_NAMESPACE = {"metadata": {"name": "default", "labels": {"team": "blue"}}}
A_SERVICE = {
    "metadata": {"name": "svc", "namespace": "default"},
    "spec": {"selector": {"app": "web"}},
}
A_BUDGET = {
    "metadata": {"name": "pdb", "namespace": "default"},
    "spec": {"minAvailable": "50%", "selector": SELECTOR},
    "status": {"disruptionsAllowed": 1, "disruptedPods": {"web": "2026-01-01T00:00:00Z"}},
}

SEEDS = [(Pod, A_POD)] * 4 + [(Node, A_NODE)] * 3
SEEDS += [(Namespace, A_NAMESPACE), (Service, A_SERVICE), (PodDisruptionBudget, A_BUDGET)]

STRANGE = [
    None, True, False, 0, -1, 1, 7, 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 10**30, 1e30, 1.5,
    -0.0, 1e308, "", " ", "a", "1", "-1", "1e30", "1e-30", "9" * 40, "0x10", "1Ki", "1K", "NaN",
    "Infinity", "ünï", "\u0000", "\U0001f600", "a/b", "../..", "x" * 300, "In", "Exists",
    "2026-01-01T00:00:00Z", "9999-99-99T99:99:99Z", "\ud800", [], {}, [[]], [None], {"": ""},
    {"a": {"b": []}},
]  # fmt: skip


def places(value, path=()):
    """Every place inside the value that can be changed."""
    if isinstance(value, dict | list):
        keys = value.keys() if isinstance(value, dict) else range(len(value))
        for key in list(keys):
            yield (value, key)
            yield from places(value[key])


def drop(dice, holder, key):
    del holder[key]


def replace(dice, holder, key):
    holder[key] = copy.deepcopy(dice.choice(STRANGE))


def nest(dice, holder, key):
    holder[key] = dice.choice([[holder[key]], {"x": holder[key]}, {str(key): holder[key]}])


def repeat(dice, holder, key):
    value = holder[key]
    if isinstance(value, list):
        holder[key] = [copy.deepcopy(item) for item in value * dice.randint(2, 3)]
    elif isinstance(value, str):
        holder[key] = value * dice.choice([2, 50])
    elif isinstance(value, int):
        holder[key] = value * dice.choice([-1, 10**6, 10**19])
    else:
        replace(dice, holder, key)


def rename(dice, holder, key):
    if isinstance(holder, dict):
        holder[dice.choice(["", "ü", "cpu", "a/b", "example.com/x", key.upper()])] = holder.pop(key)
    else:
        replace(dice, holder, key)


def swap(dice, holder, key):
    other = dice.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


MUTATIONS = [drop, replace, replace, nest, repeat, rename, swap]
NODE_NAMES = ["n1", "n2", "n3", "gone"]


def mutated(dice):
    """One object: mostly a valid one with a few things broken."""
    kind, seed = dice.choice(SEEDS)
    data = copy.deepcopy(seed)
    if kind in (Pod, Node):
        data["metadata"]["uid"] = f"u{dice.randint(1, 30)}"
    if kind is Pod:
        data["metadata"]["name"] = f"p{dice.randint(1, 30)}"
        data["spec"]["nodeName"] = dice.choice(NODE_NAMES)
    elif kind is Node:
        data["metadata"]["name"] = dice.choice(NODE_NAMES)
    for _ in range(dice.choice([0, 1, 1, 1, 2, 3])):
        found = list(places(data))
        if found:
            dice.choice(MUTATIONS)(dice, *dice.choice(found))
    return kind, data


def written(dice, data):
    """As a dict, as JSON, or as JSON that was cut short or garbled."""
    match dice.randint(0, 9):
        case 0 | 1 | 2:
            return data
        case 3:
            text = json.dumps(data).encode()
            return text[: dice.randint(0, len(text))]
        case 4:
            text = bytearray(json.dumps(data).encode())
            text[dice.randrange(len(text))] = dice.randrange(256)
            return bytes(text)
        case 5:
            return json.dumps(data)
    return json.dumps(data).encode()


def assume(state, obj):
    rows = state.table.live_rows()
    if len(rows):
        state.assume(PodInfo(obj), int(rows[0]))


def ask(state, obj):
    """What rules ask of the state for a pod."""
    nodes = state.rows()
    nodes.matching(RequiredNodeAffinity.of(obj))
    selector = default_selector(state, obj)
    nodes.count_pods(PodQuery((Clause(frozenset([obj.namespace]), selector),)))
    for key in obj.labels:
        nodes.labels[key]
    for name in PodInfo(obj).requests:
        assert nodes.free(name).tolist() == [found.free(name) for found in nodes]


def write(state, dice, obj):
    """Any write that a shell might make of this object."""
    if isinstance(obj, Pod):
        ask(state, obj)
        writes = [state.add_pod, state.add_pod, state.update_pod, state.remove_pod]
        writes += [lambda pod: assume(state, pod), lambda pod: state.forget(pod.uid)]
        dice.choice(writes)(obj)
    elif isinstance(obj, Node):
        if dice.random() < 0.15:
            state.remove_node(obj.name)
        else:
            state.set_node(obj)
    elif dice.random() < 0.2:
        state.remove_object(type(obj), obj.key)
    else:
        state.set_object(obj)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_broken_objects(seed):
    dice = random.Random(seed)
    state, ends = ClusterState(), Counter()
    for number in range(5_000):
        kind, data = mutated(dice)
        try:
            obj = decode(kind, written(dice, data))
            validate(obj)
            write(state, dice, obj)
            ends["taken"] += 1
        except InvalidObject as refused:
            ends["refused" if refused.problems else "refused without a word"] += 1
        except PodiumError:
            ends["contradicted"] += 1
        if number % 100 == 0:
            state.check_invariants()
    state.check_invariants()
    for info in list(state.pods.values()):
        state.remove_pod(info.pod)
    state.check_invariants()

    assert not state.table.resources.requested.any()
    assert "refused without a word" not in ends
    assert min(ends["taken"], ends["refused"], ends["contradicted"]) > 300, ends
