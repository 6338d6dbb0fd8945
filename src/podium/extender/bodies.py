"""What extenders are sent: JSON with the keys of kube-scheduler's Go structs, in their case.

Objects go out as the API has them. Bodies are put together from bytes: a filter is told about
thousands of nodes, none of which has to be taken apart for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from podium.api.meta import RawObject
from podium.api.objects import Pod, encode
from podium.framework.preemption import Candidate, Candidates
from podium.state.pod_info import PodInfo
from podium.state.rows import Rows

_NULL = b"null"


def judging(pod: Pod, nodes: Rows, names_only: bool) -> bytes:
    """For filter and prioritize: the nodes, or their names for an extender that knows the nodes."""
    whole, names = _NULL, _NULL
    if names_only:
        names = msgspec.json.encode(nodes.names)
    else:
        whole = b'{"metadata":{},"items":' + _list(_json(node.node) for node in nodes) + b"}"
    return _object(Pod=_json(pod), Nodes=whole, NodeNames=names)


def preempting(pod: Pod, candidates: Candidates, names_only: bool) -> bytes:
    """For preempt: the victims by node, whole, or their uids for an extender that knows them."""
    show = _uid if names_only else _victim
    by_node = b",".join(
        msgspec.json.encode(candidate.node) + b":" + _victims(candidate, show)
        for candidate in candidates
    )
    shown = b"{" + by_node + b"}"
    whole, uids = (_NULL, shown) if names_only else (shown, _NULL)
    return _object(Pod=_json(pod), NodeNameToVictims=whole, NodeNameToMetaVictims=uids)


def binding(pod: Pod, node_name: str) -> bytes:
    wanted = {
        "PodName": pod.name,
        "PodNamespace": pod.namespace,
        "PodUID": pod.uid,
        "Node": node_name,
    }
    return msgspec.json.encode(wanted)


def _victims(candidate: Candidate, show: Callable[[PodInfo, str], bytes]) -> bytes:
    pods = _list(show(info, candidate.node) for info in candidate.victims)
    return _object(Pods=pods, NumPDBViolations=msgspec.json.encode(candidate.violations))


def _uid(victim: PodInfo, node_name: str) -> bytes:
    return msgspec.json.encode({"UID": victim.uid})


def _victim(victim: PodInfo, node_name: str) -> bytes:
    """A pod that is only assumed on its node does not say so itself yet."""
    if victim.pod.node_name:
        return _json(victim.pod)
    plain = msgspec.json.decode(_json(victim.pod))
    plain.setdefault("spec", {})["nodeName"] = node_name
    return msgspec.json.encode(plain)


def _json(obj: RawObject) -> bytes:
    """The object's own JSON; where it was not kept, the fields that podium knows."""
    return obj.raw_json if obj.has_raw else encode(obj)


def _list(items: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"


def _object(**members: bytes) -> bytes:
    pairs = (b'"' + name.encode() + b'":' + value for name, value in members.items())
    return b"{" + b",".join(pairs) + b"}"
