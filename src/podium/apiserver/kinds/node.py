"""The group node.k8s.io: runtime classes."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, column
from podium.apiserver.kinds.workloads import declared_immutable, immutable
from podium.apiserver.names import label_without_dots_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36


def _check(runtime_class: Json) -> Iterator[Cause]:
    handler = runtime_class.get("handler")
    for problem in label_without_dots_problems(handler) if handler else ():
        yield statuses.bad_value("handler", handler, problem)


RUNTIME_CLASS = ApiKind(
    "node.k8s.io",
    "v1",
    "RuntimeClass",
    "runtimeclasses",
    namespaced=False,
    put_creates=True,
    update_needs_version=True,
    check=_check,
    check_update=declared_immutable("handler"),
    earlier={V1_36: {"check_update": immutable("handler")}},
    columns=(NAME, column("Handler", lambda o: o.get("handler", "")), AGE),
)

KINDS = (RUNTIME_CLASS,)
