"""Reviews: who a client is and what it may do. Whoever gets in may do everything."""

from __future__ import annotations

from typing import Any

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.statuses import Json

USER: Json = {"username": "podium-admin", "groups": ["system:masters", "system:authenticated"]}


def review(kind: ApiKind, raw: Any) -> Json:
    """The review with its status filled in."""
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
