"""The group discovery.k8s.io: endpoint slices."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, UNSET, column, first_of
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import declared_immutable, immutable
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36


def _set_defaults(endpoint_slice: Json) -> None:
    for endpoint in endpoint_slice.get("endpoints") or []:
        set_missing(endpoint, conditions={})
    for port in endpoint_slice.get("ports") or []:
        set_missing(port, name="", protocol="TCP")


def _ports(endpoint_slice: Json) -> str:
    ports = [str(one.get("port", "*")) for one in endpoint_slice.get("ports") or []]
    return first_of(ports, 3) or UNSET


def _addresses(endpoint_slice: Json) -> str:
    listed = [one.get("addresses") or [] for one in endpoint_slice.get("endpoints") or []]
    return first_of([address for addresses in listed for address in addresses], 3) or UNSET


_TYPES = ("FQDN", "IPv4", "IPv6")


def _check(endpoint_slice: Json) -> Iterator[Cause]:
    return _causes(endpoint_slice, "")


def _check_with_reasons(endpoint_slice: Json) -> Iterator[Cause]:
    """Check a slice in the words of 1.36."""
    return _causes(endpoint_slice, "must contain at least 1 address")


def _causes(endpoint_slice: Json, why_addresses: str) -> Iterator[Cause]:
    kind = endpoint_slice.get("addressType")
    if kind and kind not in _TYPES:
        yield statuses.unsupported("addressType", kind, _TYPES)
    for index, endpoint in enumerate(endpoint_slice.get("endpoints") or []):
        if not endpoint.get("addresses"):
            yield statuses.required(f"endpoints[{index}].addresses", why_addresses)


ENDPOINT_SLICE = ApiKind(
    "discovery.k8s.io",
    "v1",
    "EndpointSlice",
    "endpointslices",
    counts_generations=True,
    generation_counts=("labels",),  # they say which service it belongs to
    set_defaults=_set_defaults,
    complete=lambda endpoint_slice: endpoint_slice.setdefault("ports", None),
    check=_check,
    check_update=declared_immutable("addressType"),
    columns=(
        NAME,
        column("AddressType", lambda o: o.get("addressType", "")),
        column("Ports", _ports),
        column("Endpoints", _addresses),
        AGE,
    ),
    earlier={V1_36: {"check": _check_with_reasons, "check_update": immutable("addressType")}},
)

KINDS = (ENDPOINT_SLICE,)
