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
from podium.release import V1_36

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
        yield from _kind_causes(binding, kinds)
        for index, subject in enumerate(binding.get("subjects") or []):
            if not subject.get("name"):
                yield statuses.required(f"subjects[{index}].name")
        yield from _role_name_causes(binding)

    return check


def _check_role_name_first(*kinds: str) -> Callable[[Json], Causes]:
    """Return a check in the order of 1.36."""

    def check(binding: Json) -> Causes:
        yield from _kind_causes(binding, kinds)
        yield from _role_name_causes(binding)

    return check


def _kind_causes(binding: Json, kinds: tuple[str, ...]) -> Causes:
    kind = (binding.get("roleRef") or {}).get("kind") or ""
    if kind not in kinds:
        yield statuses.unsupported("roleRef.kind", kind, kinds)


def _role_name_causes(binding: Json) -> Causes:
    if not (binding.get("roleRef") or {}).get("name"):
        yield statuses.required("roleRef.name")


def _role_changed(detail: str) -> Callable[[Json, Json], Causes]:
    def check(old: Json, new: Json) -> Causes:
        ref = new["roleRef"]
        if old["roleRef"] != ref:
            shown = {name: ref.get(name[:1].lower() + name[1:]) or "" for name in ("Kind", "Name")}
            value = {"APIGroup": ref.get("apiGroup") or "", **shown}
            yield statuses.bad_value("roleRef", value, detail)

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
    check_update=_role_changed("field is immutable"),
    not_required={"RoleBinding": ("roleRef",)},
    columns=(
        NAME,
        column("Role", _role_ref),
        AGE,
        column("Users", _subjects("User"), wide=True),
        column("Groups", _subjects("Group"), wide=True),
        column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
    ),
    earlier={
        V1_36: {
            "check": _check_role_name_first("Role", "ClusterRole"),
            "check_update": _role_changed("cannot change roleRef"),
        }
    },
)
CLUSTER_ROLE_BINDING = replace(
    ROLE_BINDING,
    kind="ClusterRoleBinding",
    plural="clusterrolebindings",
    namespaced=False,
    check=_check_binding("ClusterRole"),
    not_required={"ClusterRoleBinding": ("roleRef",)},
    earlier={
        V1_36: {
            "check": _check_role_name_first("ClusterRole"),
            "check_update": _role_changed("cannot change roleRef"),
        }
    },
)

KINDS = (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
