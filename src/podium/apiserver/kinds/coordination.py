"""The group coordination.k8s.io: leases."""

from __future__ import annotations

from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, value_column
from podium.apiserver.kinds.workloads import spec_of

LEASE = ApiKind(
    "coordination.k8s.io",
    "v1",
    "Lease",
    "leases",
    put_creates=True,
    complete=spec_of,
    columns=(NAME, value_column("Holder", "spec.holderIdentity"), AGE),
)

KINDS = (LEASE,)
