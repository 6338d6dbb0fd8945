"""Discovery documents: which groups, versions and resources the server has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from podium.apiserver.kinds.api_kind import ApiKind, KindTable
from podium.apiserver.statuses import Json
from podium.release import Release

# Subresources that have a kind of their own: its group, version and name, and the verbs.
_SUBRESOURCES: dict[str, tuple[str, str, str, list[str]]] = {
    "scale": ("autoscaling", "v1", "Scale", ["get", "patch", "update"]),
    "binding": ("", "v1", "Binding", ["create"]),
    "eviction": ("policy", "v1", "Eviction", ["create"]),
    "token": ("authentication.k8s.io", "v1", "TokenRequest", ["create"]),
    "log": ("", "", "", ["get"]),
    "exec": ("", "v1", "PodExecOptions", ["create", "get"]),
    "attach": ("", "v1", "PodAttachOptions", ["create", "get"]),
    "portforward": ("", "v1", "PodPortForwardOptions", ["create", "get"]),
    "finalize": ("", "", "", ["update"]),
}
_OWN_VERBS = ["get", "patch", "update"]


def version(release: Release) -> Json:
    return {
        "major": str(release.major),
        "minor": str(release.minor),
        "gitVersion": f"v{release}.0+podium",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "linux/amd64",
    }


def core_versions(address: str) -> Json:
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(kinds: KindTable) -> Json:
    groups = [_group(name, versions) for name, versions in kinds.groups().items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(kinds: KindTable, name: str) -> Json | None:
    versions = kinds.groups().get(name)
    if not name or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def _group(name: str, versions: Any) -> Json:
    listed = [{"groupVersion": f"{name}/{one}", "version": one} for one in _ordered(versions)]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGES = {None: 0, "beta": 1, "alpha": 2}


def _ordered(versions: Iterable[str]) -> list[str]:
    """Sort versions: stable before beta and alpha, newer before older, other names last."""

    def rank(version: str) -> tuple[int, int, int, str]:
        found = _VERSION.fullmatch(version)
        if found is None:
            return (3, 0, 0, version)
        return (_STAGES[found[2]], -int(found[1]), -int(found[3] or 0), version)

    return sorted(versions, key=rank)


def resource_list(kinds: KindTable, group: str, version: str) -> Json | None:
    rows = kinds.groups().get(group, {}).get(version)
    if rows is None:
        return None
    found = []
    for row in rows:
        found.append(_resource(row))
        found += [_subresource(row, name) for name in row.subresources]
    if (group, version) == ("", "v1"):
        found.append(_binding())
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if group else {}),  # the core group is older than this field
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": sorted(found, key=lambda one: str(one["name"])),
    }


def _resource(row: ApiKind) -> Json:
    found: Json = {
        "name": row.plural,
        "singularName": row.singular,
        "namespaced": row.namespaced,
        "kind": row.kind,
        "verbs": list(row.verbs),
    }
    if row.short_names:
        found["shortNames"] = list(row.short_names)
    if row.categories:
        found["categories"] = list(row.categories)
    if "list" in row.verbs:
        found["storageVersionHash"] = "podium"
    return found


def _binding() -> Json:
    return {
        "name": "bindings",
        "singularName": "binding",
        "namespaced": True,
        "kind": "Binding",
        "verbs": ["create"],
    }


def _subresource(row: ApiKind, name: str) -> Json:
    group, version, kind, verbs = _SUBRESOURCES.get(name, ("", "", "", _OWN_VERBS))
    found: Json = {
        "name": f"{row.plural}/{name}",
        "singularName": "",
        "namespaced": row.namespaced,
        "kind": kind or row.kind,
        "verbs": verbs,
    }
    if kind and group != row.group:
        found |= {"group": group, "version": version}
    return found


def aggregated(kinds: KindTable, core: bool, version: str) -> Json:
    """Return all groups in one document, which newer clients read instead of the lists above."""
    items = [
        _aggregated_group(name, versions)
        for name, versions in kinds.groups().items()
        if core == (name == "")
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def _aggregated_group(name: str, versions: dict[str, list[ApiKind]]) -> Json:
    listed = []
    for version in _ordered(versions):
        resources = [_aggregated_resource(row) for row in versions[version]]
        if (name, version) == ("", "v1"):
            resources.append(_aggregated_binding())
        listed.append({"version": version, "resources": resources, "freshness": "Current"})
    return {
        "metadata": {"name": name, "creationTimestamp": None}
        if name
        else {"creationTimestamp": None},
        "versions": listed,
    }


def _aggregated_binding() -> Json:
    return {
        "resource": "bindings",
        "responseKind": {"group": "", "version": "v1", "kind": "Binding"},
        "scope": "Namespaced",
        "singularResource": "binding",
        "verbs": ["create"],
    }


def _aggregated_resource(row: ApiKind) -> Json:
    found: Json = {
        "resource": row.plural,
        "responseKind": {"group": row.group, "version": row.version, "kind": row.kind},
        "scope": "Namespaced" if row.namespaced else "Cluster",
        "singularResource": row.singular,
        "verbs": list(row.verbs),
    }
    if row.short_names:
        found["shortNames"] = list(row.short_names)
    if row.categories:
        found["categories"] = list(row.categories)
    if row.subresources:
        found["subresources"] = [_aggregated_subresource(row, name) for name in row.subresources]
    return found


def _aggregated_subresource(row: ApiKind, name: str) -> Json:
    group, version, kind, verbs = _SUBRESOURCES.get(name, ("", "", "", _OWN_VERBS))
    if not kind:
        group, version, kind = row.group, row.version, row.kind
    return {
        "subresource": name,
        "responseKind": {"group": group, "version": version, "kind": kind},
        "verbs": verbs,
    }
