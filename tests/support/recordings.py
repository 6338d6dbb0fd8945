"""Small recordings written by hand, and a way to replay them."""

import json
from typing import Any

from podium import app
from podium.conformance import CoreBuilder, Outcome, replay
from podium.conformance.reader import parse_line
from podium.framework.registry import Registry
from podium.plugins import IN_TREE

Json = dict[str, Any]

PLUGINS = (
    "PrioritySort",
    "TaintToleration",
    "NodeResourcesFit",
    "DynamicResources",
    "DefaultPreemption",
)


def replayed(case: Json, *, without: tuple[str, ...] = ()) -> Outcome:
    """The outcome of a case, as if the plugins in ``without`` were not built yet."""
    registry = Registry(plugin for plugin in IN_TREE if plugin.name not in without)
    builder = CoreBuilder(registry, lambda wanted: app.build(wanted, registry=registry))
    return replay(parse_line(json.dumps(case).encode(), "a.jsonl:1"), builder)


def changed(case: Json, path: str, value: Any) -> Json:
    """The case with another value at a path such as ``expect.filter.a.code``."""
    copy = json.loads(json.dumps(case))  # parts that the recordings here share come apart
    *inside, last = path.split(".")
    place: Any = copy
    for step in inside:
        place = place[int(step)] if isinstance(place, list) else place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copy


def config(*names: str) -> Json:
    """One profile with these plugins and no others."""
    enabled = [{"name": name} for name in names]
    plugins = {
        "multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled},
        "bind": {"enabled": [{"name": "DefaultBinder"}]},
    }
    version = "kubescheduler.config.k8s.io/v1"
    kind = {"apiVersion": version, "kind": "KubeSchedulerConfiguration"}
    return {**kind, "profiles": [{"plugins": plugins}]}


def node(name: str, size: int, **spec: Any) -> Json:
    """A node of so many cpus and Gi."""
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"allocatable": {"cpu": str(size), "memory": f"{size}Gi", "pods": "110"}},
    }


def pod(name: str, size: int, **spec: Any) -> Json:
    """A pod that asks for so many cpus and Gi."""
    requests = {"cpu": str(size), "memory": f"{size}Gi"}
    container = {"name": "main", "image": "app", "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"containers": [container], **spec},
    }


def tainted(name: str, size: int) -> Json:
    return node(name, size, taints=[{"key": "gpu", "effect": "NoSchedule"}])


def verdict(code: str, plugin: str, *reasons: str) -> Json:
    return {"code": code, "plugin": plugin, "reasons": list(reasons)}


SUCCESS = {"code": "Success"}
TAINTED = verdict(
    "UnschedulableAndUnresolvable", "TaintToleration", "node(s) had untolerated taint(s)"
)
TOO_SMALL = verdict("Unschedulable", "NodeResourcesFit", "Insufficient memory", "Insufficient cpu")

# A pod of 1 on nodes of 4 and 2: three quarters and half of them stay free.
PLACED = {
    "name": "attempts/placed-0",
    "config": config(*PLUGINS),
    "cluster": {"nodes": [node("a", 4), node("b", 2), tainted("c", 4)]},
    "pod": pod("web", 1),
    "expect": {
        "preFilter": SUCCESS,
        "filter": {"a": SUCCESS, "b": SUCCESS, "c": TAINTED},
        "feasible": ["a", "b"],
        "scores": {"TaintToleration": {"a": 100, "b": 100}, "NodeResourcesFit": {"a": 75, "b": 50}},
        "total": {"a": 175, "b": 150},
        "best": ["a"],
    },
}

# Two nodes are full.
_BASE = "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory."

_PLACEMENT = "preemption: found a potential placement for pod on node b, preempting 1 victims"

# Evicting either pod on its node makes room; the one on b is less important.
PREEMPTS = {
    "name": "attempts/preempts-0",
    "config": config(*PLUGINS),
    "cluster": {
        "nodes": [node("a", 4), node("b", 4)],
        "pods": [
            pod("first", 4, nodeName="a", priority=2),
            pod("second", 4, nodeName="b", priority=1),
        ],
    },
    "pod": pod("web", 2, priority=10),
    "expect": {
        "preFilter": SUCCESS,
        "filter": {"a": TOO_SMALL, "b": TOO_SMALL},
        "feasible": [],
        "fitError": f"{_BASE} {_PLACEMENT}",
        "fitErrorBase": _BASE,
        "preemption": {
            "code": "Success",
            "message": _PLACEMENT,
            "candidates": {
                "a": {"victims": ["default/first"], "pdbViolations": 0},
                "b": {"victims": ["default/second"], "pdbViolations": 0},
            },
            "nominatedNode": "b",
            "victims": ["default/second"],
        },
    },
}

_NO_HELP = "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."

HOPELESS = {
    "name": "attempts/hopeless-0",
    "config": config(*PLUGINS),
    "cluster": {
        "nodes": [node("a", 4), node("b", 4)],
        "pods": [pod("first", 4, nodeName="a"), pod("second", 4, nodeName="b")],
    },
    "pod": pod("web", 2),
    "expect": {
        "preFilter": SUCCESS,
        "filter": {"a": TOO_SMALL, "b": TOO_SMALL},
        "feasible": [],
        "fitError": f"{_BASE} {_NO_HELP}",
        "fitErrorBase": _BASE,
        "preemption": {"code": "Unschedulable", "message": _NO_HELP},
    },
}

# Three replicas of 1 on nodes of 2 and 1: they fill up, then one leaves and there is room again.
SEQUENCE = {
    "name": "sequences/fills-up-0",
    "config": config(*PLUGINS),
    "cluster": {"nodes": [node("a", 2), node("b", 1)]},
    "steps": [
        {
            "op": "schedule",
            "pod": pod("web-0", 1),
            "expect": {
                "feasible": ["a", "b"],
                "total": {"a": 150, "b": 100},
                "best": ["a"],
                "chosen": "a",
            },
        },
        {
            "op": "schedule",
            "pod": pod("web-1", 1),
            "expect": {
                "feasible": ["a", "b"],
                "total": {"a": 100, "b": 100},
                "best": ["a", "b"],
                "chosen": "a",
            },
        },
        {
            "op": "schedule",
            "pod": pod("web-2", 1),
            "expect": {"feasible": ["b"], "best": ["b"], "chosen": "b"},
        },
        {
            "op": "schedule",
            "pod": pod("web-3", 1),
            "expect": {"feasible": [], "fitError": _BASE},
        },
        {"op": "delete", "pod": "default/web-0"},
        {
            "op": "schedule",
            "pod": pod("web-3", 1),
            "expect": {"feasible": ["a"], "best": ["a"], "chosen": "a"},
        },
    ],
}

HINT = {
    "name": "hints/taint-0",
    "plugin": "TaintToleration",
    "event": {"resource": "Node", "action": "Add"},
    "pod": pod("web", 1),
    "new": tainted("c", 4),
    "expect": "QueueSkip",
}

UPDATE = {
    "name": "updates/taint-0",
    "kind": "Node",
    "old": node("a", 4),
    "new": tainted("a", 4),
    "resource": "Node",
    "expect": ["UpdateNodeTaint"],
}
