"""Read workload files; all mistakes are found before anything runs.

A file is a list of test cases. Each workload of a case fills in the parameters of its template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import msgspec

from podium.api.manifests import read_text
from podium.api.objects import (
    ApiObject,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from podium.bench.ops import (
    OPCODES,
    Churn,
    CreateAny,
    CreateMixedPods,
    CreateNamespaces,
    CreateNodes,
    CreatePods,
    CreatePodSets,
    Op,
)
from podium.bench.templates import Templates
from podium.config import document
from podium.config.decode import decode
from podium.config.problems import Problems, child, did_you_mean, in_file_order, show
from podium.errors import ConfigError, PodiumError, Problem


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload, ready to run: its operations and the templates that they use."""

    name: str
    ops: tuple[Op, ...]
    templates: Templates


class _WorkloadText(msgspec.Struct, frozen=True, rename="camel"):
    """``labels``, ``threshold`` and ``feature_gates`` are for upstream's CI and are ignored."""

    name: str
    params: dict[str, Any] = {}
    labels: list[str] = []
    threshold: Any = None
    feature_gates: dict[str, bool] = {}


class _CaseText(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    workload_template: list[Any]
    workloads: list[_WorkloadText]
    default_pod_template_path: str = ""
    labels: list[str] = []
    feature_gates: dict[str, bool] = {}


def load_file(path: str | PathLike[str]) -> list[Workload]:
    """Return the workloads of a file, in order; ``ConfigError`` lists all its problems."""
    source = fspath(path)
    try:
        text = read_text(Path(path))
    except PodiumError as error:
        raise ConfigError(source, [Problem("", str(error))]) from error
    value, problems = document.read(text)
    reader = _Reader(Templates(Path(path).parent), problems)
    workloads = reader.cases(value) if value is not None or not problems else []
    if problems.found:
        raise ConfigError(source, in_file_order(_by_case_name(problems.found, value)))
    return workloads


def _by_case_name(problems: list[Problem], value: Any) -> Iterator[Problem]:
    """Replace the index of a case by its name: ``[2].workloads`` becomes ``Basic.workloads``."""
    for problem in problems:
        index, bracket, rest = problem.path[1:].partition("]")
        name = None
        if bracket and isinstance(value, list) and isinstance(value[int(index)], dict):
            name = value[int(index)].get("name")
        yield problem._replace(path=f"{name}{rest}") if isinstance(name, str) else problem


class _Reader:
    """Reads the cases of one file and collects its problems."""

    def __init__(self, templates: Templates, problems: Problems) -> None:
        self.templates = templates
        self.problems = problems

    def cases(self, value: Any) -> list[Workload]:
        if not isinstance(value, list) or not value:
            self.problems.add("", "a workload file is a list of test cases")
            return []
        workloads = [w for index, case in enumerate(value) for w in self._case(case, f"[{index}]")]
        names = [workload.name for workload in workloads]
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.problems.add("", f"two workloads are named {name}")
        return workloads

    def _case(self, value: Any, path: str) -> list[Workload]:
        case = decode(value, _CaseText, path, self.problems)
        if case is None:
            return []
        for field, items in (
            ("workloadTemplate", case.workload_template),
            ("workloads", case.workloads),
        ):
            if not items:
                self.problems.add(child(path, field), "must not be empty")
        return [
            self._workload(case, workload, path, f"{path}.workloads[{index}].params")
            for index, workload in enumerate(case.workloads)
        ]

    def _workload(
        self, case: _CaseText, workload: _WorkloadText, path: str, params_path: str
    ) -> Workload:
        ops: list[Op] = []
        for index, raw in enumerate(case.workload_template):
            where = f"{path}.workloadTemplate[{index}]"
            op = self._op(raw, where, _Params(workload.params, params_path, self.problems))
            if op is not None:
                op = _completed(op, index, case.default_pod_template_path)
                self._load_templates(op, where)
                ops.append(op)
        return Workload(f"{case.name}/{workload.name}", tuple(ops), self.templates)

    def _op(self, raw: Any, path: str, params: _Params) -> Op | None:
        opcode = raw.get("opcode") if isinstance(raw, dict) else None
        if not isinstance(opcode, str) or opcode not in OPCODES:
            hint = did_you_mean(opcode, OPCODES) if isinstance(opcode, str) else ""
            hint = hint or f"; there are: {', '.join(OPCODES)}"
            self.problems.add(path, f"no operation has opcode {show(opcode)}{hint}")
            return None
        filled = params.fill(raw, path)
        if not params.are_complete:
            return None
        found = Problems()
        op = decode(filled, OPCODES[opcode], path, found)
        for problem in found.found:  # a bad value is reported at its parameter
            self.problems.add(params.origin.get(problem.path, problem.path), problem.message)
        return self._checked(op, path) if op is not None and not found else None

    def _checked(self, op: Op, path: str) -> Op | None:
        reason = ""
        match op:
            case CreatePods():
                reason = _contradiction(op)
            case CreatePodSets(create_pods_op=inner):
                reason = _contradiction(inner)
            case CreateMixedPods(create_pods_ops=[]):
                reason = "createPodsOps must not be empty"
            case CreateMixedPods(create_pods_ops=inner_ops):
                reason = next(filter(None, map(_contradiction_in_mix, inner_ops)), "")
            case Churn(mode="recreate", number=0):
                reason = "number must be at least 1 in mode recreate"
            case Churn(template_paths=[]):
                reason = "templatePaths must not be empty"
        if reason:
            self.problems.add(path, reason)
        return None if reason else op

    def _load_templates(self, op: Op, path: str) -> None:
        for name, kind, count in _named_templates(op):
            try:
                template = self.templates.load(name)
            except PodiumError as error:
                self.problems.add(path, f"template {name}: {error}")
                continue
            if not issubclass(template.kind, kind):
                wrong = f"is a {template.kind.__name__}, not a {kind.__name__}"
                self.problems.add(path, f"template {name}: {wrong}")
            elif template.fixed_name and count != 1:
                reason = f"has a fixed name, so it cannot make {count} objects; use generateName"
                self.problems.add(path, f"template {name}: {reason}")


class _Params:
    """A workload's parameters; ``origin`` maps a filled-in field to its parameter."""

    def __init__(self, values: Mapping[str, Any], path: str, problems: Problems) -> None:
        self.values = values
        self.path = path
        self.problems = problems
        self.origin: dict[str, str] = {}
        self.are_complete = True  # missing ones are problems

    def fill(self, value: Any, path: str) -> Any:
        """Replace each ``fooParam: $name`` in a value by ``foo`` with the value of ``name``."""
        match value:
            case dict():
                return self._filled(value, path)
            case list():
                items = enumerate(value)
                return [self.fill(item, f"{path}[{index}]") for index, item in items]
        return value

    def _filled(self, raw: Mapping[str, Any], path: str) -> dict[str, Any]:
        filled: dict[str, Any] = {}
        for key, value in raw.items():
            where = child(path, key)
            if key.endswith("Param"):
                field = key.removesuffix("Param")
                filled[field] = self._value(value, where)
                self.origin[child(path, field)] = f"{self.path}.{str(value)[1:]}"
            else:
                # A parameter takes precedence over a value of the same field.
                filled.setdefault(key, self.fill(value, where))
        return filled

    def _value(self, reference: Any, where: str) -> Any:
        if not isinstance(reference, str) or not reference.startswith("$"):
            self.problems.invalid(where, reference, "must be a parameter, such as $initNodes")
            self.are_complete = False
        elif reference[1:] not in self.values:
            user = where.partition(".")[2]
            hint = did_you_mean(reference[1:], self.values)
            self.problems.add(self.path, f"{user} needs parameter {reference[1:]}{hint}")
            self.are_complete = False
        else:
            return self.values[reference[1:]]
        return None


def _contradiction(op: CreatePods) -> str:
    """Return which fields of the operation exclude one another; "" if none do."""
    if op.collect_metrics and op.skip_wait_to_completion:
        return "collectMetrics and skipWaitToCompletion exclude one another"
    if op.bind_in_turn and (op.collect_metrics or op.pin_in_turn):
        other = "collectMetrics" if op.collect_metrics else "pinInTurn"
        return f"{other} and bindInTurn exclude one another"
    if bool(op.persistent_volume_template_path) != bool(op.persistent_volume_claim_template_path):
        return "persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath go together"
    return ""


def _contradiction_in_mix(op: CreatePods) -> str:
    if op.collect_metrics or op.skip_wait_to_completion or op.bind_in_turn:
        return "pods in turn are measured, and waited for, together or not at all"
    return _contradiction(op)


def _completed(op: Op, index: int, pod_template: str) -> Op:
    """Fill in the case's default template and the operation's namespace where not given."""
    match op:
        case CreatePods():
            return msgspec.structs.replace(
                op,
                namespace=op.namespace or f"namespace-{index}",
                pod_template_path=op.pod_template_path or pod_template,
            )
        case CreateMixedPods(create_pods_ops=inner_ops):
            completed = [_completed(inner, index, pod_template) for inner in inner_ops]
            return msgspec.structs.replace(op, create_pods_ops=completed)
        case CreatePodSets(create_pods_op=inner):
            path = inner.pod_template_path or pod_template
            inner = msgspec.structs.replace(inner, pod_template_path=path)
            return msgspec.structs.replace(op, create_pods_op=inner)
        case Churn(namespace="") | CreateAny(namespace=""):
            return msgspec.structs.replace(op, namespace=f"namespace-{index}")
    return op


def _named_templates(op: Op) -> list[tuple[str, type[ApiObject], int]]:
    """Yield the templates of an operation, the kind of each, and how many objects it makes."""
    named: list[tuple[str, type[ApiObject], int]] = []
    match op:
        case CreateNodes():
            named = [(op.node_template_path, Node, op.count)]
        case CreateNamespaces():
            named = [(op.namespace_template_path, Namespace, 1)]
        case CreatePods():
            named = [
                (op.pod_template_path, Pod, op.count),
                (op.persistent_volume_template_path, PersistentVolume, op.count),
                (op.persistent_volume_claim_template_path, PersistentVolumeClaim, op.count),
            ]
        case CreatePodSets(create_pods_op=inner):
            named = _named_templates(inner)
        case CreateMixedPods(create_pods_ops=inner_ops):
            named = [entry for inner in inner_ops for entry in _named_templates(inner)]
        case CreateAny():
            named = [(op.template_path, ApiObject, op.count)]
        case Churn():
            named = [(path, ApiObject, op.number) for path in op.template_paths]
    return [entry for entry in named if entry[0]]
