"""The groups authentication.k8s.io and authorization.k8s.io: questions that are never stored."""

from __future__ import annotations

from dataclasses import replace

from podium.apiserver.kinds.api_kind import CREATE_ONLY, ApiKind

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
