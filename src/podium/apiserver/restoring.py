"""Start an embedded cluster in the state of another cluster.

Objects with a uid come from an API server and are stored as they are, so that owners, bound pods
and everything that refers to a uid stay right. Objects without one are created, as by a client.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Json, Refusal
from podium.errors import PodiumError
from podium.logs import get_logger

_SHOWN = 5

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RestoredState:
    """The objects of another cluster, owners before what they own, and when they were read.

    A frozen cluster has neither controllers nor kubelets: only clients and the scheduler change it.
    """

    objects: Sequence[bytes]
    node_count: int = 0
    taken_at: float | None = None
    is_frozen: bool = False


def restore(cluster: Cluster, state: RestoredState) -> None:
    """Put all objects into a new cluster; raise ``PodiumError`` with everything that is wrong."""
    faults: list[str] = []
    unknown: dict[str, int] = {}
    for raw in (*_missing_namespaces(cluster, state.objects), *state.objects):
        obj = msgspec.json.decode(raw)
        kind = cluster.api.kinds.of(obj.get("apiVersion", ""), obj.get("kind", ""))
        if kind is None:
            name = f"{obj.get('kind')} ({obj.get('apiVersion')})"
            unknown[name] = unknown.get(name, 0) + 1
            continue
        try:
            _put(cluster, kind, obj)
        except Refusal as error:
            meta = obj["metadata"]
            key = "/".join(filter(None, (meta.get("namespace"), meta.get("name"))))
            faults.append(f"{kind.kind} {key}: {error}")
    for name, count in unknown.items():
        log.warning("left out objects of a kind that is not served here", kind=name, count=count)
    if faults:
        rest = len(faults) - _SHOWN
        more = f"\n  and {rest} more" if rest > 0 else ""
        lines = "".join(f"\n  {fault}" for fault in faults[:_SHOWN])
        what = "1 object" if len(faults) == 1 else f"{len(faults)} objects"
        raise PodiumError(f"{what} cannot be restored{lines}{more}")


def _put(cluster: Cluster, kind: ApiKind, obj: Json) -> None:
    meta = obj["metadata"]
    if kind.namespaced:
        meta.setdefault("namespace", "default")
    if meta.get("uid"):
        item = cluster.api.restore(kind, obj)
        cluster.restored.add(item.meta.uid)
    elif cluster.store.find(kind.storage, (meta.get("namespace", ""), meta["name"])) is None:
        cluster.create(kind.resource, obj)


class _Named(msgspec.Struct):
    name: str = ""
    namespace: str | None = None


class _Object(msgspec.Struct):
    kind: str = ""
    metadata: _Named = msgspec.field(default_factory=_Named)


def _missing_namespaces(cluster: Cluster, objects: Iterable[bytes]) -> list[bytes]:
    """Return the namespaces that objects are in and that are not there."""
    found = list(map(msgspec.json.Decoder(_Object).decode, objects))
    used = {each.metadata.namespace for each in found} - {None, ""}
    there = {each.metadata.name for each in found if each.kind == "Namespace"}
    there |= {item.key[1] for item in cluster.store.list("namespaces").items}
    namespace = {"apiVersion": "v1", "kind": "Namespace"}
    missing = sorted(name for name in used - there if name)
    return [msgspec.json.encode({**namespace, "metadata": {"name": name}}) for name in missing]
