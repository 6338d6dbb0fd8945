"""Addresses of services: a cluster IP for each service that wants one, and node ports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from podium.apiserver.admission import Reader
from podium.apiserver.statuses import Json

_FIRST_PORT, _LAST_PORT = 30000, 32767


def assign_addresses(service: Json, old: Json | None, reader: Reader) -> None:
    """Fill in missing addresses and ports; an update keeps what was assigned."""
    spec = service.setdefault("spec", {})
    if spec.get("type") == "ExternalName":
        return
    is_headless = spec.get("clusterIP") == "None"
    both = is_headless and not spec.get(
        "selector"
    )  # endpoints that somebody adds can be of either family
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if both else ["IPv4"])
    before = (old or {}).get("spec", {})
    others = [one.get("spec", {}) for one in reader.objects("services")]
    if not spec.get("clusterIP"):
        used = {one.get("clusterIP") for one in others}
        spec["clusterIP"] = before.get("clusterIP") or _free(_addresses(), used)
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    if spec.get("type") in ("NodePort", "LoadBalancer"):
        _assign_ports(spec, others)


def _assign_ports(spec: Json, others: list[Json]) -> None:
    used = {port.get("nodePort") for one in others for port in one.get("ports") or []}
    for port in spec.get("ports") or []:
        if not port.get("nodePort"):
            port["nodePort"] = _free(iter(range(_FIRST_PORT, _LAST_PORT + 1)), used)
            used.add(port["nodePort"])


def _addresses() -> Iterator[str]:
    for number in count(10):
        yield f"10.{96 + number // 65536}.{number // 256 % 256}.{number % 256}"


def _free(candidates: Iterator[Any], used: set[Any]) -> Any:
    return next(one for one in candidates if one not in used)
