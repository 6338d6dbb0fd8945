"""DeleteOptions, and what they mean for an object: its grace period and its finalizers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from podium.apiserver import statuses
from podium.apiserver.decoding import conform_options
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.schemas import Schemas
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.store import ALWAYS, FOREGROUND, ORPHAN, Deletion, Preconditions
from podium.apiserver.watches import Item

DELETE_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_POLICIES = ("Background", "Foreground", "Orphan")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How a client wants an object deleted. The kind decides what the client leaves open."""

    grace_seconds: int | None = None
    propagation: str = ""
    preconditions: Preconditions = ALWAYS
    dry_run: bool = False

    @classmethod
    def read(cls, raw: Json) -> DeleteOptions:
        """Build the options from a body whose types are checked; raise the server's refusals."""
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
        given: Json = raw.get("preconditions") or {}
        preconditions = Preconditions(given.get("uid"), given.get("resourceVersion"))
        return cls(grace, policy or "", preconditions, bool(dry_run))


def by_default(kind: ApiKind, options: DeleteOptions) -> DeleteOptions:
    """Fill in the propagation that older kinds have by default: they orphan dependents."""
    if options.propagation or not kind.orphans_dependents:
        return options
    return replace(options, propagation="Orphan")


def orphaning_warnings(kind: ApiKind, given: DeleteOptions) -> Iterator[str]:
    if kind.orphaning_warning and not given.propagation:
        yield kind.orphaning_warning


def typed_options(raw: Json, schemas: Schemas) -> Json:
    """Return the options in a body with their types checked."""
    kind = raw.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        scheme = '"pkg/apis/meta/internalversion/scheme/register.go:27"'
        version = raw.get("apiVersion") or ""
        raise statuses.bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme {scheme}'
        )
    return conform_options(schemas.named(DELETE_OPTIONS), raw)


def _invalid(cause: Cause) -> statuses.Refusal:
    return statuses.invalid("DeleteOptions", "meta.k8s.io", "", [cause])


def deletion_of(kind: ApiKind, obj: Json, options: DeleteOptions) -> Deletion:
    finalizers = {"Foreground": (FOREGROUND,), "Orphan": (ORPHAN,)}.get(options.propagation, ())
    return Deletion(
        kind.grace(obj, options.grace_seconds),
        finalizers if kind.has_dependents else (),
        options.preconditions,
        options.dry_run,
        kind.is_graceful,
    )


def check_preconditions(kind: ApiKind, item: Item, wanted: Preconditions) -> None:
    """Refuse a deletion that is meant for another object or version."""
    for what, want, have, guess in (
        ("UID", wanted.uid, item.meta.uid, "deleted and then recreated"),
        ("ResourceVersion", wanted.version, str(item.version), "modified"),
    ):
        if want is None or want == have:
            continue
        if start := kind.failed_precondition:
            why = f"{start}: {what} in precondition: {want}, {what} in object meta: {have}"
            raise statuses.conflict(kind.resource, item.key[1], why)
        why = (
            f"the {what} in the precondition ({want}) does not match the {what} in record "
            f"({have}). The object might have been {guess}"
        )
        raise statuses.conflict(_qualified(kind), item.key[1], why)


def _qualified(kind: ApiKind) -> str:
    return f"{kind.kind}.{kind.internal_group}" if kind.internal_group else kind.kind
