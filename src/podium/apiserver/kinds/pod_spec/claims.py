"""Checks of what a pod says about resource claims, in its spec and in its status."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.names import label_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]
_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")


def claim_causes(spec: Json, path: str) -> Causes:
    """Check the claims of a pod, and those that its containers use."""
    claims = spec.get("resourceClaims") or []
    names = [claim.get("name", "") for claim in claims]
    for index, claim in enumerate(claims):
        where = f"{path}.resourceClaims[{index}]"
        if not names[index]:
            yield statuses.required(f"{where}.name")
        elif names[index] in names[:index]:
            yield statuses.duplicate(f"{where}.name", names[index])
        else:
            for problem in label_problems(names[index]):
                yield statuses.bad_value(f"{where}.name", names[index], problem)
        yield from _source(claim, where)
    known = sorted({name for name in names if name})
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or []):
            used = (container.get("resources") or {}).get("claims") or []
            yield from _used(used, known, f"{path}.{field}[{index}].resources.claims")


def _source(claim: Json, path: str) -> Causes:
    given = [name for name in _SOURCES if claim.get(name) is not None]
    shown: Json = {"Name": claim.get("name", "")}
    shown |= {f"{name[0].upper()}{name[1:]}": claim.get(name) for name in _SOURCES}
    if not given:
        detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        yield statuses.bad_value(path, shown, detail)
    elif len(given) > 1:
        detail = f"at most one of `{given[0]}` or `{given[1]}` may be specified"
        yield statuses.bad_value(path, shown, detail)
    for name in given:
        for problem in subdomain_problems(claim[name]):
            yield statuses.bad_value(f"{path}.{name}", claim[name], problem)


def _used(claims: list[Json], known: list[str], path: str) -> Causes:
    """Check the claims that a container uses, as a whole or only one request of them."""
    seen: list[tuple[str, str]] = []
    for index, claim in enumerate(claims):
        name, request, where = claim.get("name", ""), claim.get("request", ""), f"{path}[{index}]"
        if not name:
            yield statuses.required(where)
            continue
        yield from _overlaps(name, request, seen, where)
        seen.append((name, request))
        if name not in known:
            listed = f": {', '.join(known)}" if known else " which is empty"
            detail = f"must be one of the names in pod.spec.resourceClaims{listed}"
            yield statuses.not_listed(where, name, detail)


def _overlaps(name: str, request: str, seen: list[tuple[str, str]], path: str) -> Causes:
    if (name, "") in seen:
        yield statuses.duplicate(path, name)
        return
    for problem in label_problems(request) if request else ():
        yield statuses.bad_value(f"{path}.request", request, problem)
    if (name, request) in seen:
        yield statuses.duplicate(path, f"{name}/{request}")
    elif not request and any(name == other for other, _ in seen):
        yield statuses.duplicate(path, name)


def claim_status_causes(old: Json, new: Json) -> Causes:
    """Check the names of generated claims in a pod's status."""
    known = {one.get("name") for one in (new.get("spec") or {}).get("resourceClaims") or []}
    seen = set()
    for index, one in enumerate((new.get("status") or {}).get("resourceClaimStatuses") or []):
        name, where = one.get("name", ""), f"status.resourceClaimStatuses[{index}]"
        if name not in known:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            yield statuses.bad_value(f"{where}.name", name, detail)
        if name in seen:
            yield statuses.duplicate(f"{where}.name", name)
        seen.add(name)
        claim = one.get("resourceClaimName")
        for problem in subdomain_problems(claim) if claim is not None else ():
            yield statuses.bad_value(f"{where}.resourceClaimName", claim, problem)
