"""The Workload and the PodGroup of a job, with the feature gate WorkloadWithJob.

A job without an owner gets both before its first pod, and its pods join the group. Its
``spec.scheduling`` says how the group is scheduled; without it each pod counts alone. A job whose
pods name a group themselves, and one that has started before, is left as it is.
"""

from __future__ import annotations

from typing import Final

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import controller_of, owner_reference
from podium.apiserver.features import WORKLOAD_WITH_JOB
from podium.apiserver.statuses import Json, Refusal

WORKLOADS: Final = "workloads.scheduling.k8s.io"
GROUPS: Final = "podgroups.scheduling.k8s.io"
API_VERSION: Final = "scheduling.k8s.io/v1beta1"
LONGEST_NAME: Final = 253
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
# What a template and a group are made of, beside their policy.
_CONFIGURED: Final = ("schedulingConstraints", "disruptionMode", "resourceClaims")


class JobGroups:
    """Finds or creates the groups of jobs."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.is_enabled = WORKLOAD_WITH_JOB in cluster.api.features

    def of(self, job: Json, *, is_new: bool) -> Json | None:
        """Return the group that the job's pods join; ``None`` if they are scheduled one by one."""
        template = job["spec"]["template"].get("spec") or {}
        if template.get("schedulingGroup") is not None or controller_of(job) is not None:
            return None
        name = workload_name(job)
        namespace = job["metadata"]["namespace"]
        workload = self._cluster.find(WORKLOADS, (namespace, name))
        if workload is None and is_new:
            workload = self._create(job, WORKLOADS, new_workload(job, name))
        if workload is None or not _is_owned(workload, job):
            return None
        own = group_name(name, template_name(job))
        group = self._cluster.find(GROUPS, (namespace, own))
        if group is None and is_new:
            group = self._create(job, GROUPS, new_group(job, workload, own))
        if group is None or not _is_owned(group, job):
            return None
        self._resize(job, workload, group)
        return group

    def _create(self, job: Json, resource: str, obj: Json) -> Json | None:
        kind, name = obj["kind"], job["metadata"]["name"]
        try:
            made = self._cluster.create(resource, obj)
        except Refusal as fault:
            why = f"Failed to create {kind} for Job {name}: {fault}"
            self._cluster.record_event(job, f"Failed{kind}Create", why, type_="Warning")
            return None
        told = f"Created {kind} {made['metadata']['name']} for Job {name}"
        self._cluster.record_event(job, f"{kind}Created", told)
        return made

    def _resize(self, job: Json, workload: Json, group: Json) -> None:
        """Carry a changed size of a gang over; nothing else of both can change."""
        wanted = policy_of(job).get("gang")
        if wanted is None:
            return
        for resource, obj, policy in (
            (WORKLOADS, workload, workload["spec"]["podGroupTemplates"][0]["schedulingPolicy"]),
            (GROUPS, group, group["spec"]["schedulingPolicy"]),
        ):
            if "gang" in policy and policy["gang"] != wanted:
                policy["gang"] = dict(wanted)
                self._cluster.put(resource, obj)


def join(pod: Json, group: Json) -> None:
    """Make a new pod a member of the group."""
    pod["spec"]["schedulingGroup"] = {"podGroupName": group["metadata"]["name"]}


def new_workload(job: Json, name: str) -> Json:
    scheduling = job["spec"].get("scheduling") or {}
    template: Json = {"name": template_name(job), "schedulingPolicy": policy_of(job)}
    template |= {field: scheduling[field] for field in _CONFIGURED if scheduling.get(field)}
    if priority := (job["spec"]["template"].get("spec") or {}).get("priorityClassName"):
        template["priorityClassName"] = priority
    reference = {"apiGroup": "batch", "kind": "Job", "name": job["metadata"]["name"]}
    return {
        "apiVersion": API_VERSION,
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": job["metadata"]["namespace"],
            "ownerReferences": [owner_reference(job)],
        },
        "spec": {"controllerRef": reference, "podGroupTemplates": [template]},
    }


def new_group(job: Json, workload: Json, name: str) -> Json:
    """Return the group of the workload's only template."""
    [template] = workload["spec"]["podGroupTemplates"]
    spec = {field: value for field, value in template.items() if field != "name" and value}
    reference = {"workloadName": workload["metadata"]["name"], "templateName": template["name"]}
    return {
        "apiVersion": API_VERSION,
        "kind": "PodGroup",
        "metadata": {
            "name": name,
            "namespace": job["metadata"]["namespace"],
            "ownerReferences": [owner_reference(job), _reference(workload)],
        },
        "spec": {**spec, "workloadRef": reference},
    }


def policy_of(job: Json) -> Json:
    """Return how the job's pods are scheduled; a gang without a size is as large as the job."""
    given = (job["spec"].get("scheduling") or {}).get("schedulingPolicy") or {}
    if "gang" not in given:
        return {"basic": {}}
    size = (given["gang"] or {}).get("minCount") or max(1, job["spec"].get("parallelism", 1))
    return {"gang": {"minCount": size}}


# --- names ----------------------------------------------------------------------------------------


def template_name(job: Json) -> str:
    return f"{job['metadata']['name']}-pgt-0"


def workload_name(job: Json) -> str:
    digits = _encoded(f"(types.UID){job['metadata']['uid']}")  # as Go prints the uid
    return f"{job['metadata']['name'][: LONGEST_NAME - len(digits) - 1]}-{digits}"


def group_name(workload: str, template: str) -> str:
    digits = _encoded(workload + template)
    room = LONGEST_NAME - len(digits) - 2
    workload = workload[: max(room - len(template), room - room // 2)]
    return f"{workload}-{template[: room - len(workload)]}-{digits}"


def _encoded(text: str) -> str:
    """Return a hash (FNV-1a of 32 bits) in letters that spell no words."""
    number = 0x811C9DC5
    for byte in text.encode():
        number = (number ^ byte) * 0x01000193 % 2**32
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(number))


def _reference(obj: Json) -> Json:
    meta = obj["metadata"]
    kind = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    return {**kind, "name": meta["name"], "uid": meta["uid"]}


def _is_owned(obj: Json, job: Json) -> bool:
    owner = controller_of(obj)
    return owner is not None and owner["uid"] == job["metadata"]["uid"]
