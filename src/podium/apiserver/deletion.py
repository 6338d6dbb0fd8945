"""DeleteOptions, and what they mean for an object: its grace and its finalizers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from podium.apiserver import statuses
from podium.apiserver.decoding import conform_options
from podium.apiserver.kinds import Kind
from podium.apiserver.schemas import named
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.store import ALWAYS, FOREGROUND, ORPHAN, Deletion, Preconditions
from podium.apiserver.watches import Item

DELETE_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_WITHOUT_DEPENDENTS = frozenset({"events"})
_ORPHANING = frozenset({"replicationcontrollers", "jobs.batch"})
_POLICIES = ("Background", "Foreground", "Orphan")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How a client wants something deleted; what it leaves out is the kind's to decide."""

    grace_seconds: int | None = None
    propagation: str = ""
    preconditions: Preconditions = ALWAYS
    dry_run: bool = False

    @classmethod
    def read(cls, raw: Json) -> DeleteOptions:
        """From options of the right types; raises the server's refusals."""
        grace, policy = raw.get("gracePeriodSeconds"), raw.get("propagationPolicy")
        if policy is not None and policy not in _POLICIES:
            cause = statuses.unsupported(
                "propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]
            )
            raise _invalid(cause)
        if raw.get("orphanDependents") is not None:
            if policy is not None:
                detail = "orphanDependents and deletionPropagation cannot be both set"
                raise _invalid(statuses.bad_value("propagationPolicy", policy, detail))
            policy = "Orphan" if raw["orphanDependents"] is True else "Background"
        dry_run = raw.get("dryRun") or []
        if dry_run not in ([], ["All"]):
            raise _invalid(statuses.unsupported("dryRun", dry_run, ["All"]))
        return cls(grace, policy or "", _preconditions(raw), bool(dry_run))


def by_default(kind: Kind, options: DeleteOptions) -> DeleteOptions:
    """What a client means that says nothing about dependents: older kinds leave them behind."""
    if options.propagation or kind.resource not in _ORPHANING:
        return options
    return replace(options, propagation="Orphan")


def orphaning_warnings(kind: Kind, given: DeleteOptions) -> Iterator[str]:
    if kind.resource == "jobs.batch" and not given.propagation:
        yield (
            "child pods are preserved by default when jobs are deleted; set "
            "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
            "suppress this warning"
        )


def typed_options(raw: Json) -> Json:
    """The options in a body, each of its type."""
    kind = raw.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        scheme = '"pkg/apis/meta/internalversion/scheme/register.go:27"'
        version = raw.get("apiVersion") or ""
        raise statuses.bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme {scheme}'
        )
    return conform_options(named(DELETE_OPTIONS), raw)


def _invalid(cause: Cause) -> statuses.Refusal:
    return statuses.invalid("DeleteOptions", "meta.k8s.io", "", [cause])


def _preconditions(raw: Json) -> Preconditions:
    given: Json = raw.get("preconditions") or {}
    return Preconditions(given.get("uid"), given.get("resourceVersion"))


def deletion_of(kind: Kind, obj: Json, options: DeleteOptions) -> Deletion:
    is_pod = kind.resource == "pods"
    grace: int | None = pod_grace(obj, options.grace_seconds) if is_pod else 0
    if kind.resource == "namespaces":
        grace = None
    finalizers = {"Foreground": (FOREGROUND,), "Orphan": (ORPHAN,)}.get(options.propagation, ())
    if kind.storage in _WITHOUT_DEPENDENTS:
        finalizers = ()
    return Deletion(grace, finalizers, options.preconditions, options.dry_run, is_pod)


def pod_grace(pod: Json, asked: int | None = None) -> int:
    """A pod that never ran or runs no more needs none."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    grace = spec.get("terminationGracePeriodSeconds", 30) if asked is None else asked
    return int(grace) if grace >= 0 else 1


def check_preconditions(kind: Kind, item: Item, wanted: Preconditions) -> None:
    uid, version = item.meta.uid, str(item.version)
    if wanted.uid is not None and wanted.uid != uid:
        why = (
            f"the UID in the precondition ({wanted.uid}) does not match the UID in record ({uid}). "
            "The object might have been deleted and then recreated"
        )
        raise statuses.conflict(_qualified(kind), item.key[1], why)
    if wanted.version is not None and wanted.version != version:
        why = (
            f"the ResourceVersion in the precondition ({wanted.version}) does not match the "
            f"ResourceVersion in record ({version}). The object might have been modified"
        )
        raise statuses.conflict(_qualified(kind), item.key[1], why)


def _qualified(kind: Kind) -> str:
    return f"{kind.kind}.{kind.group}" if kind.group and not kind.stored_as else kind.kind
