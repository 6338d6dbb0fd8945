"""The bodies of requests to extenders: JSON with the keys of kube-scheduler's Go structs.

Objects are sent as the API wrote them. Bodies are joined from bytes, because a filter request may
contain thousands of nodes, and none of them has to be decoded for it.
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


def node_request(pod: Pod, nodes: Rows, names_only: bool) -> bytes:
    """The body for filter and prioritize: nodes, or only names if the extender caches nodes."""
    whole, names = _NULL, _NULL
    if names_only:
        names = msgspec.json.encode(nodes.names)
    else:
        whole = b'{"metadata":{},"items":' + _list(_json(node.node) for node in nodes) + b"}"
    return _object(Pod=_json(pod), Nodes=whole, NodeNames=names)


def preemption_request(pod: Pod, candidates: Candidates, names_only: bool) -> bytes:
    """The body for preempt: victims by node, or only uids if the extender caches pods."""
    form = _uid if names_only else _victim
    by_node = b",".join(
        msgspec.json.encode(candidate.node) + b":" + _victims(candidate, form)
        for candidate in candidates
    )
    victims = b"{" + by_node + b"}"
    whole, uids = (_NULL, victims) if names_only else (victims, _NULL)
    return _object(Pod=_json(pod), NodeNameToVictims=whole, NodeNameToMetaVictims=uids)


def binding_request(pod: Pod, node_name: str) -> bytes:
    wanted = {
        "PodName": pod.name,
        "PodNamespace": pod.namespace,
        "PodUID": pod.uid,
        "Node": node_name,
    }
    return msgspec.json.encode(wanted)


def _victims(candidate: Candidate, form: Callable[[PodInfo, str], bytes]) -> bytes:
    pods = _list(form(info, candidate.node) for info in candidate.victims)
    return _object(Pods=pods, NumPDBViolations=msgspec.json.encode(candidate.violations))


def _uid(victim: PodInfo, node_name: str) -> bytes:
    return msgspec.json.encode({"UID": victim.uid})


def _victim(victim: PodInfo, node_name: str) -> bytes:
    """Return the victim's JSON, with its node even if it is only assumed there."""
    if victim.pod.node_name:
        return _json(victim.pod)
    plain = msgspec.json.decode(_json(victim.pod))
    plain.setdefault("spec", {})["nodeName"] = node_name
    return msgspec.json.encode(plain)


def _json(obj: RawObject) -> bytes:
    """Return the object's own JSON, or the fields that podium knows if it was not kept."""
    return obj.raw_json if obj.has_raw else encode(obj)


def _list(items: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"


def _object(**members: bytes) -> bytes:
    pairs = (b'"' + name.encode() + b'":' + value for name, value in members.items())
    return b"{" + b",".join(pairs) + b"}"
