"""The group rbac.authorization.k8s.io: roles and their bindings; stored, and not enforced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, CREATED_AT, NAME, Cell, column, joined
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.names import path_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_GROUP = "rbac.authorization.k8s.io"

ROLE = ApiKind(
    _GROUP,
    "v1",
    "Role",
    "roles",
    name_problems=path_problems,
    put_creates=True,
    complete=lambda role: role.setdefault("rules", None),
    columns=(NAME, CREATED_AT),
)
CLUSTER_ROLE = replace(ROLE, kind="ClusterRole", plural="clusterroles", namespaced=False)


def _set_binding_defaults(binding: Json) -> None:
    if isinstance(binding.get("roleRef"), dict):
        set_missing(binding["roleRef"], apiGroup=_GROUP)
    for subject in binding.get("subjects") or []:
        if subject.get("kind") in ("User", "Group"):
            set_missing(subject, apiGroup=_GROUP)


def _check_binding(*kinds: str) -> Callable[[Json], Causes]:
    def check(binding: Json) -> Causes:
        ref = binding.get("roleRef") or {}
        if ref.get("kind") not in kinds:
            yield statuses.unsupported("roleRef.kind", ref.get("kind") or "", kinds)
        if not ref.get("name"):
            yield statuses.required("roleRef.name")

    return check


def _role_ref(obj: Json) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind')}/{ref.get('name')}"


def _subjects(kind: str) -> Cell:
    def cell(binding: Json) -> str:
        found = [one for one in binding.get("subjects") or [] if one.get("kind") == kind]
        return joined(*(_subject(one) for one in found))

    return cell


def _subject(subject: Json) -> str:
    inside = subject.get("namespace")
    return f"{inside}/{subject['name']}" if inside else str(subject["name"])


ROLE_BINDING = ApiKind(
    _GROUP,
    "v1",
    "RoleBinding",
    "rolebindings",
    name_problems=path_problems,
    put_creates=True,
    set_defaults=_set_binding_defaults,
    check=_check_binding("Role", "ClusterRole"),
    not_required={"RoleBinding": ("roleRef",)},
    columns=(
        NAME,
        column("Role", _role_ref),
        AGE,
        column("Users", _subjects("User"), wide=True),
        column("Groups", _subjects("Group"), wide=True),
        column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
    ),
)
CLUSTER_ROLE_BINDING = replace(
    ROLE_BINDING,
    kind="ClusterRoleBinding",
    plural="clusterrolebindings",
    namespaced=False,
    check=_check_binding("ClusterRole"),
    not_required={"ClusterRoleBinding": ("roleRef",)},
)

KINDS = (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
