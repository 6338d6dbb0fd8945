"""The groups authentication.k8s.io and authorization.k8s.io: who a client is, what it may do.

Reviews are questions and never stored. Whoever can connect may do everything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import CREATE_ONLY, ApiKind
from podium.apiserver.statuses import Json

TOKEN_REVIEW = ApiKind(
    "authentication.k8s.io",
    "v1",
    "TokenReview",
    "tokenreviews",
    namespaced=False,
    verbs=CREATE_ONLY,
)
SUBJECT_ACCESS_REVIEW = ApiKind(
    "authorization.k8s.io",
    "v1",
    "SubjectAccessReview",
    "subjectaccessreviews",
    namespaced=False,
    verbs=CREATE_ONLY,
)

KINDS = (
    TOKEN_REVIEW,
    replace(TOKEN_REVIEW, kind="SelfSubjectReview", plural="selfsubjectreviews"),
    SUBJECT_ACCESS_REVIEW,
    replace(
        SUBJECT_ACCESS_REVIEW, kind="SelfSubjectAccessReview", plural="selfsubjectaccessreviews"
    ),
    replace(SUBJECT_ACCESS_REVIEW, kind="SelfSubjectRulesReview", plural="selfsubjectrulesreviews"),
    replace(
        SUBJECT_ACCESS_REVIEW,
        kind="LocalSubjectAccessReview",
        plural="localsubjectaccessreviews",
        namespaced=True,
    ),
)

USER: Json = {"username": "podium-admin", "groups": ["system:masters", "system:authenticated"]}


def review(kind: ApiKind, raw: Any) -> Json:
    """Return the review with its status filled in."""
    if not isinstance(raw, dict):
        raise statuses.bad_request(f"{kind.kind}: the body must be an object")
    spec = raw.get("spec") if isinstance(raw.get("spec"), dict) else {}
    meta = raw.get("metadata") if isinstance(raw.get("metadata"), dict) else {}
    answer: Json = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta}
    if kind.kind != "SelfSubjectReview":
        answer["spec"] = spec
    return {**answer, "status": _status(kind.kind, spec or {})}


def _status(kind: str, spec: Json) -> Json:
    match kind:
        case "SelfSubjectReview":
            return {"userInfo": USER}
        case "TokenReview":
            return {"authenticated": True, "user": USER, "audiences": spec.get("audiences") or []}
        case "SelfSubjectRulesReview":
            every = ["*"]
            return {
                "resourceRules": [{"verbs": every, "apiGroups": every, "resources": every}],
                "nonResourceRules": [{"verbs": every, "nonResourceURLs": every}],
                "incomplete": False,
            }
        case _:
            return {"allowed": True, "reason": "podium's embedded cluster allows everything"}
