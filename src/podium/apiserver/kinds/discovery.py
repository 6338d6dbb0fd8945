"""The group discovery.k8s.io: endpoint slices."""

from __future__ import annotations

from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, UNSET, column, first_of
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.statuses import Json


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


ENDPOINT_SLICE = ApiKind(
    "discovery.k8s.io",
    "v1",
    "EndpointSlice",
    "endpointslices",
    counts_generations=True,
    generation_counts=("labels",),  # they say which service it belongs to
    set_defaults=_set_defaults,
    columns=(
        NAME,
        column("AddressType", lambda o: o.get("addressType", "")),
        column("Ports", _ports),
        column("Endpoints", _addresses),
        AGE,
    ),
)

KINDS = (ENDPOINT_SLICE,)
