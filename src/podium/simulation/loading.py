"""The objects of a snapshot, in the order in which a simulation takes them."""

from __future__ import annotations

from itertools import chain, groupby
from operator import itemgetter

from msgspec.structs import replace

from podium.api.meta import ApiObject
from podium.api.objects import Pod
from podium.config.feature_gates import FeatureGates
from podium.errors import InvalidObject
from podium.simulation.kinds import Decoder, Json, seen
from podium.simulation.replacing import stays_with_node
from podium.snapshot import KindName, ObjectStream
from podium.state.shared_parts import SharedParts


def objects_of(
    stream: ObjectStream, gates: FeatureGates, *, reschedule: bool
) -> list[ApiObject | Json]:
    """Return the objects by creation and kind. With ``reschedule`` pods leave their nodes.

    Equal parts of pods are stored once from the start. That takes less time than it saves, because
    the next pod is decoded into the memory that is given back.
    """
    decoder, parts = Decoder(gates), SharedParts()
    by_kind: dict[KindName, list[ApiObject | Json]] = {}
    try:
        for name, found in groupby(stream.objects, itemgetter(0)):
            kind, objects = name.full_kind, by_kind.setdefault(name, [])
            for _, raw in found:
                obj = decoder.observed(kind, raw)
                if isinstance(obj, Pod):
                    parts.share_pod(obj)
                objects.append(obj)
    except InvalidObject:
        stream.check()  # a line that is not JSON at all is reported with its number
        raise
    listed = sorted(chain.from_iterable(by_kind.values()), key=_created)
    return [_off_its_node(each) for each in listed] if reschedule else listed


def _created(given: ApiObject | Json) -> str:
    """Return when an object was created; new ones come last."""
    return given.metadata.creation_timestamp if isinstance(given, ApiObject) else "~"


def _off_its_node(given: ApiObject | Json) -> ApiObject | Json:
    """Return a pod that has a node without it, unless it stays with its node."""
    if not isinstance(given, Pod) or not given.node_name:
        return given
    if stays_with_node(given) or seen(given) is None:
        return given
    status = replace(given.status, phase="Pending", start_time="", nominated_node_name="")
    return replace(given, spec=replace(given.spec, node_name=""), status=status)
