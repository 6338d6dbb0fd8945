"""Replication controllers and pod templates, the older ways to run copies of a pod."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import NOT_SELECTABLE, ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, column, labels_text
from podium.apiserver.kinds.pod_spec.checks import pod_spec_causes
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import (
    REPLICA_COLUMNS,
    TEMPLATE_COLUMNS,
    containers_cell,
    count_causes,
    selection_causes,
    set_template_defaults,
    spec_of,
    workload_causes,
)
from podium.apiserver.names import subdomain_bytes_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36


def _set_defaults(controller: Json) -> None:
    spec = spec_of(controller)
    set_missing(spec, replicas=1)
    if "template" not in spec:
        return
    set_template_defaults(spec)
    labels = spec["template"]["metadata"].get("labels")
    if labels:
        set_missing(spec, selector=dict(labels))
        set_missing(controller["metadata"], labels=dict(labels))


def _check(controller: Json) -> Iterator[Cause]:
    yield from selection_causes(controller)
    yield from count_causes(controller)


REPLICATION_CONTROLLER = ApiKind(
    "",
    "v1",
    "ReplicationController",
    "replicationcontrollers",
    short_names=("rc",),
    categories=("all",),
    subresources=("status", "scale"),
    name_problems=subdomain_bytes_problems,
    checks_name_prefix=False,
    counts_generations=True,
    set_defaults=_set_defaults,
    check=_check,
    selects_by_labels=True,
    columns=(NAME, *REPLICA_COLUMNS, AGE, *TEMPLATE_COLUMNS),
    selectable_fields=("status.replicas",),
    unknown_field=NOT_SELECTABLE,
    orphans_dependents=True,
    earlier={V1_36: {"check": workload_causes}},
)


def _check_template(template: Json) -> Iterator[Cause]:
    yield from pod_spec_causes((template.get("template") or {}).get("spec") or {}, "template.spec")


POD_TEMPLATE = ApiKind(
    "",
    "v1",
    "PodTemplate",
    "podtemplates",
    counts_generations=True,
    set_defaults=set_template_defaults,
    check=_check_template,
    columns=(
        NAME,
        column("Containers", containers_cell("template.spec", "name")),
        column("Images", containers_cell("template.spec", "image")),
        column("Pod Labels", lambda o: labels_text(at(o, "template.metadata.labels") or {})),
    ),
    shown_when_deleted=True,
)
