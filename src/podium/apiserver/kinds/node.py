"""The group node.k8s.io: runtime classes."""

from __future__ import annotations

from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, column

RUNTIME_CLASS = ApiKind(
    "node.k8s.io",
    "v1",
    "RuntimeClass",
    "runtimeclasses",
    namespaced=False,
    put_creates=True,
    update_needs_version=True,
    columns=(NAME, column("Handler", lambda o: o.get("handler", "")), AGE),
)

KINDS = (RUNTIME_CLASS,)
