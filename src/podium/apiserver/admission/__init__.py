"""Admission: what happens to an object between its decoding and its validation, one file each."""

from __future__ import annotations

from podium.apiserver.admission.default_tolerations import add_default_tolerations
from podium.apiserver.admission.node_taints import taint_by_condition, taint_new_node
from podium.apiserver.admission.priority import check_priority_class, resolve_priority
from podium.apiserver.admission.reader import Admission
from podium.apiserver.admission.runtime_class import apply_runtime_class
from podium.apiserver.admission.service_addresses import assign_addresses

ADMISSIONS: dict[str, list[Admission]] = {
    "pods": [resolve_priority, add_default_tolerations, apply_runtime_class],
    "nodes": [taint_new_node, taint_by_condition],
    "services": [assign_addresses],
    "priorityclasses.scheduling.k8s.io": [check_priority_class],
}
