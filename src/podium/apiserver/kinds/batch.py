"""The group batch: jobs and cron jobs."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api.times import parse_time
from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import (
    AGE,
    NAME,
    NONE,
    Column,
    age,
    column,
    value_column,
)
from podium.apiserver.kinds.groups.job_scheduling import (
    scheduling_causes,
    scheduling_update_causes,
)
from podium.apiserver.kinds.pod_spec.checks import pod_spec_causes
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import (
    TEMPLATE_COLUMNS,
    containers_cell,
    immutable,
    not_negative_causes,
    selector_cell,
    set_template_defaults,
    spec_of,
)
from podium.apiserver.metadata import label_causes
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36

Causes = Iterator[Cause]


def _set_job_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_template_defaults(spec)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        set_missing(spec, completions=1)
    is_per_index = spec.get("backoffLimitPerIndex") is not None
    set_missing(
        spec,
        parallelism=1,
        backoffLimit=2**31 - 1 if is_per_index else 6,
        completionMode="NonIndexed",
        suspend=False,
        manualSelector=False,
        podReplacementPolicy="TerminatingOrFailed",
    )


def _start_job(job: Json, now: str) -> None:
    """Give a job without a selector one that selects by its uid."""
    meta, spec = job["metadata"], job["spec"]
    if spec.get("manualSelector") or spec.get("selector"):
        return
    old = {"controller-uid": meta["uid"], "job-name": meta.get("name", "")}
    prefixed = {f"batch.kubernetes.io/{key}": value for key, value in old.items()}
    template = spec["template"].setdefault("metadata", {})
    own = template["labels"] = {**(template.get("labels") or {}), **prefixed, **old}
    if not meta.get("labels"):
        meta["labels"] = dict(own)
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": meta["uid"]}}


def _check_job(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    counts = ("parallelism", "completions", "backoffLimit")
    for name in (*counts, "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        yield from not_negative_causes(spec, name)
    if spec.get("completionMode") not in ("NonIndexed", "Indexed"):
        modes = ["NonIndexed", "Indexed"]
        yield statuses.unsupported("spec.completionMode", spec.get("completionMode"), modes)
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    yield from label_causes((template.get("metadata") or {}).get("labels"), "spec.template.labels")
    yield from pod_spec_causes(pod, "spec.template.spec")
    if pod.get("restartPolicy") not in ("OnFailure", "Never"):
        path = "spec.template.spec.restartPolicy"
        yield statuses.required(path, 'valid values: "OnFailure", "Never"')
    yield from scheduling_causes(spec)


def _check_job_update(old: Json, new: Json) -> Causes:
    yield from _UNCHANGED(old, new)
    yield from scheduling_update_causes(old, new)


_UNCHANGED = immutable("spec.completions", "spec.selector", "spec.completionMode")


def _job_status(job: Json) -> str:
    conditions = {c.get("type"): c.get("status") for c in at(job, "status.conditions") or []}
    for kind in ("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if conditions.get(kind) == "True":
            return kind
    return "Terminating" if "deletionTimestamp" in job["metadata"] else "Running"


def _job_completions(job: Json) -> str:
    succeeded, wanted = at(job, "status.succeeded") or 0, at(job, "spec.completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = at(job, "spec.parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: Json, now: float) -> str:
    start, end = at(job, "status.startTime"), at(job, "status.completionTime")
    if not start:
        return ""
    return age(start, parse_time(end) / 1e9 if end else now)


JOB = ApiKind(
    "batch",
    "v1",
    "Job",
    "jobs",
    categories=("all",),
    subresources=("status",),
    counts_generations=True,
    set_defaults=_set_job_defaults,
    start=_start_job,
    check=_check_job,
    check_update=_check_job_update,
    columns=(
        NAME,
        column("Status", _job_status),
        column("Completions", _job_completions),
        Column("Duration", "string", 0, _job_duration),
        AGE,
        *TEMPLATE_COLUMNS,
    ),
    selectable_fields=("status.successful",),
    unknown_field='field label "{path}" not supported for Job',
    orphans_dependents=True,
    orphaning_warning=(
        "child pods are preserved by default when jobs are deleted; set "
        "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
        "suppress this warning"
    ),
)

_CRON_NAME_LENGTH = 52  # the names of its jobs are longer and must fit as well


def _set_cron_job_defaults(obj: Json) -> None:
    made = spec_of(obj).setdefault("jobTemplate", {})
    made.setdefault("metadata", {})
    set_template_defaults(made.setdefault("spec", {}))
    set_missing(
        spec_of(obj),
        concurrencyPolicy="Allow",
        suspend=False,
        successfulJobsHistoryLimit=3,
        failedJobsHistoryLimit=1,
    )


def _check_cron_job(cron_job: Json) -> Causes:
    yield from _cron_name_causes(cron_job)
    yield from _cron_template_causes(cron_job["spec"])
    yield from _schedule_causes(cron_job["spec"])


def _check_schedule_first(cron_job: Json) -> Causes:
    """Check a cron job in the order of 1.36."""
    yield from _cron_name_causes(cron_job)
    yield from _schedule_causes(cron_job["spec"])
    yield from _cron_template_causes(cron_job["spec"])


def _cron_name_causes(cron_job: Json) -> Causes:
    name = cron_job["metadata"].get("name", "")
    if len(name) > _CRON_NAME_LENGTH:
        detail = f"must be no more than {_CRON_NAME_LENGTH} characters"
        yield statuses.bad_value("metadata.name", name, detail)


def _schedule_causes(spec: Json) -> Causes:
    if not spec.get("schedule"):
        yield statuses.required("spec.schedule")


def _cron_template_causes(spec: Json) -> Causes:
    pod, path = spec["jobTemplate"]["spec"]["template"]["spec"], "spec.jobTemplate.spec.template"
    yield from pod_spec_causes(pod, f"{path}.spec")
    if pod.get("restartPolicy") not in ("OnFailure", "Never"):
        valid = 'valid values: "OnFailure", "Never"'
        yield statuses.required(f"{path}.spec.restartPolicy", valid)


_CRON_POD = "spec.jobTemplate.spec.template.spec"

CRON_JOB = ApiKind(
    "batch",
    "v1",
    "CronJob",
    "cronjobs",
    short_names=("cj",),
    categories=("all",),
    subresources=("status",),
    counts_generations=True,
    set_defaults=_set_cron_job_defaults,
    check=_check_cron_job,
    columns=(
        NAME,
        value_column("Schedule", "spec.schedule"),
        value_column("Timezone", "spec.timeZone", NONE),
        column("Suspend", lambda o: str(bool(at(o, "spec.suspend"))), kind="boolean"),
        column("Active", lambda o: len(at(o, "status.active") or []), kind="integer"),
        Column(
            "Last Schedule",
            "string",
            0,
            lambda o, now: age(at(o, "status.lastScheduleTime"), now, NONE),
        ),
        AGE,
        column("Containers", containers_cell(_CRON_POD, "name"), wide=True),
        column("Images", containers_cell(_CRON_POD, "image"), wide=True),
        column("Selector", selector_cell("spec.jobTemplate.spec.selector"), wide=True),
    ),
    earlier={V1_36: {"check": _check_schedule_first}},
)

KINDS = (JOB, CRON_JOB)
