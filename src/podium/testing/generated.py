"""Random nodes and pods for checks on generated clusters, by hypothesis, which must be installed.

Few values make pods and nodes meet: the same zones, apps and priorities come up again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from podium.api.nodes import HOSTNAME, ZONE
from podium.api.objects import Node, OwnerReference, Pod
from podium.testing.builders import node, pod
from podium.testing.generated_terms import (
    affinities,
    node_affinities,
    spread_constraints,
)

NAMESPACES: Final = ("default", "other")
NODE_NAMES: Final = ("a", "b", "c", "d", "e")
TAINTS: Final = ("gpu=yes:NoSchedule", "spot:PreferNoSchedule", "down:NoExecute")
TOLERATES: Final = ("gpu=yes:NoSchedule", "spot:", "down:NoExecute", ":")
IMAGES: Final[tuple[dict[str, int], ...]] = (
    {},
    {"web:1": 600 << 20},
    {"web:1": 500 << 20, "big:latest": 3 << 30},
)
OWNER: Final = OwnerReference("apps/v1", "ReplicaSet", "web", "rs-web", True)
FEATURES: Final = ("Other", "RestartAllContainersOnContainerExits")
TIMES: Final = tuple(f"2026-01-01T00:00:0{second}Z" for second in range(4))

_RESTART_ALL: Final = [{"action": "RestartAllContainers"}]


def some(words: Sequence[str]) -> st.SearchStrategy[str]:
    """At most two of these words."""
    return st.lists(st.sampled_from(words), max_size=2, unique=True).map(" ".join)


# Strategies are made once: hypothesis checks each anew, which would take longer than drawing.
_DISKS: Final = st.sampled_from(({}, {"disk": "ssd"}, {"disk": "hdd"}))
_ZONES: Final = st.sampled_from(({}, {ZONE: "z1"}, {ZONE: "z1"}, {ZONE: "z2"}, {ZONE: "z2"}))
_NODES: Final = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(("1", "2", "4")),
        "memory": st.sampled_from(("1Gi", "4Gi")),
        "pods": st.sampled_from((2, 5, 110)),
        "allocatable": st.sampled_from(({}, {"example.com/gpu": 2})),
        "taints": some(TAINTS),
        "images": st.sampled_from(IMAGES),
        "unschedulable": st.sampled_from((False,) * 5 + (True,)),
        "declared_features": some(FEATURES).map(str.split),
    }
)
_PODS: Final = st.fixed_dictionaries(
    {
        "namespace": st.sampled_from(NAMESPACES),
        "cpu": st.sampled_from((None, "500m", "1", "2")),
        "memory": st.sampled_from((None, "512Mi")),
        "requests": st.sampled_from(({}, {}, {"example.com/gpu": 1})),
        "image": st.sampled_from(("", "web:1", "big")),
        "owner_references": st.sampled_from(((), (OWNER,))),
        "host_ports": st.sampled_from(((), (), (80,), (80, 443))),
        "tolerates": some(TOLERATES),
        "priority": st.sampled_from((0, 5, 10)),
        "node_selector": st.sampled_from(("", "", "", "disk=ssd")),
    }
)
_RUNNING: Final = st.fixed_dictionaries(
    {
        "deletion_timestamp": st.sampled_from(("",) * 5 + TIMES[:1]),
        "status": st.sampled_from([{"start_time": time} for time in TIMES]),
    }
)
_PINNED: Final = st.sampled_from(("",) * 7 + NODE_NAMES[:1])
_LABELS: Final = st.sampled_from(({}, {"app": "web"}, {"app": "db"}, {"app": "web", "x": ""}))
_NODE_AFFINITIES: Final = node_affinities().map(lambda affinity: {"nodeAffinity": affinity})
_RESTARTING: Final = {"init_containers": [{"restartPolicyRules": _RESTART_ALL}]}
_RARE: Final = st.sampled_from(({}, {}, {}, {}, {}, _RESTARTING))
_SPREADING: Final = st.lists(spread_constraints(), max_size=2)
_POD_AFFINITIES: Final = affinities()
_ONE_IN_THREE: Final = st.sampled_from((False, False, True))
_ONE_IN_FOUR: Final = st.sampled_from((False, False, False, True))


@st.composite
def nodes(draw: st.DrawFn, /, name: str, **more: Any) -> Node:
    """A node; ``more`` as for ``podium.testing.node``."""
    labels = {HOSTNAME: name, **draw(_ZONES), **draw(_DISKS)}
    return node(name, labels=labels, **draw(_NODES), **more)


@st.composite
def pods(draw: st.DrawFn, /, name: str, *, on: str = "", plain: bool = False, **more: Any) -> Pod:
    """A pod, running ``on`` a node if that is named; ``more`` as for ``podium.testing.pod``.

    ``plain`` ones have neither spreading nor affinity to pods.
    """
    labels = {key: value or name for key, value in draw(_LABELS).items()}
    fields: dict[str, Any] = {**draw(_PODS), **draw(_RARE), **(draw(_RUNNING) if on else {})}
    affinity: dict[str, Any] = {}
    if not plain and draw(_ONE_IN_THREE):
        fields["topology_spread_constraints"] = draw(_SPREADING)
    if not plain and draw(_ONE_IN_THREE):
        affinity |= draw(_POD_AFFINITIES)
    if draw(_ONE_IN_FOUR):
        affinity |= draw(_NODE_AFFINITIES)
    if affinity:
        fields["affinity"] = affinity
    return pod(name, labels=labels, node=on or draw(_PINNED), **fields, **more)
