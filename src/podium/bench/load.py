"""Read workload files.

A file is a list of test cases. Each workload of a case fills in the parameters of its template.
What is wrong with one workload is kept in its ``problems``: the others can still run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import msgspec

from podium.api.manifests import read_text
from podium.bench.checks import Collecting, completed, contradiction, template_problem
from podium.bench.ops import OPCODES, Op
from podium.bench.parameters import Parameters
from podium.bench.templates import Templates
from podium.bench.thresholds import MetricSelector, Threshold, threshold_of
from podium.config import document, feature_gates
from podium.config.decode import decode
from podium.config.feature_gates import FeatureGates
from podium.config.problems import Problems, child, did_you_mean, in_file_order, show
from podium.errors import ConfigError, PodiumError, Problem
from podium.release import LATEST, Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One workload: its operations, the templates that they use, and how the scheduler is set up.

    It can run only if it has no ``problems``.
    """

    name: str
    ops: tuple[Op, ...] = ()
    templates: Templates
    params: Mapping[str, Any] = field(default_factory=dict)
    gates: FeatureGates = feature_gates.NO_CHOICE
    scheduler_config: Path | None = None
    threshold: Threshold | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Values that replace parameters of the same name, and the release that gates are those of."""

    params: Mapping[str, Any] = field(default_factory=dict)
    release: Release = LATEST


class _WorkloadText(msgspec.Struct, frozen=True, rename="camel"):
    """``labels`` choose workloads in Kubernetes' own test runs, and have no effect."""

    name: str
    params: dict[str, Any] = {}
    labels: list[str] = []
    threshold: float | dict[str, float] | None = None
    threshold_metric_selector: MetricSelector | None = None
    feature_gates: dict[str, bool] = {}


class _CaseText(msgspec.Struct, frozen=True, rename="camel"):
    """``metrics_collector_config`` is about metrics that a benchmark does not collect."""

    name: str
    workload_template: list[Any]
    workloads: list[_WorkloadText]
    default_pod_template_path: str = ""
    default_threshold_metric_selector: MetricSelector | None = None
    scheduler_config_path: str = ""
    metrics_collector_config: Any = None
    labels: list[str] = []
    feature_gates: dict[str, bool] = {}


def load_file(path: str | PathLike[str], options: LoadOptions | None = None) -> list[Workload]:
    """Return the workloads of a file, in order, also those that cannot run.

    ``ConfigError`` lists all problems of a file that is not a list of test cases.
    """
    source = fspath(path)
    try:
        text = read_text(Path(path))
    except PodiumError as error:
        raise ConfigError(source, [Problem("", str(error))]) from error
    value, problems = document.read(text)
    reader = _Reader(Path(path).parent, problems, options or LoadOptions())
    workloads = reader.cases(value) if value is not None or not problems else []
    if problems.found:
        raise ConfigError(source, in_file_order(problems.found))
    return workloads


class _Reader:
    """Reads the cases of one file; ``problems`` are those of the file as a whole."""

    def __init__(self, folder: Path, problems: Problems, options: LoadOptions) -> None:
        self.folder = folder
        self.templates = Templates(folder)
        self.problems = problems
        self.options = options

    def cases(self, value: Any) -> list[Workload]:
        if not isinstance(value, list) or not value:
            self.problems.add("", "a workload file is a list of test cases")
            return []
        workloads = [w for index, case in enumerate(value) for w in self._case(case, f"[{index}]")]
        names = [workload.name for workload in workloads]
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.problems.add("", f"two workloads are named {name}")
        return workloads

    def _case(self, value: Any, path: str) -> Iterator[Workload]:
        found = Problems(self.problems.lines)
        case = decode(value, _CaseText, path, found)
        if case is not None:
            for name, items in (
                ("workloadTemplate", case.workload_template),
                ("workloads", case.workloads),
            ):
                if not items:
                    found.add(child(path, name), "must not be empty")
        if case is None or not case.workloads:
            yield from self._unreadable(value, found, path)
            return
        for index in range(len(case.workloads)):
            reader = _WorkloadReader(self, case, path, found.found)
            yield reader.read(index)

    def _unreadable(self, value: Any, found: Problems, path: str) -> Iterator[Workload]:
        """Yield the workloads of a case that cannot run; without names, the file is at fault."""
        name, names = _names(value)
        problems = tuple(_by_case_name(found.found, path, name))
        if not names:
            for problem in problems:
                self.problems.add_at(problem.path, problem.line, problem.message)
        for each in names:
            yield Workload(name=f"{name}/{each}", templates=self.templates, problems=problems)


class _WorkloadReader:
    """Reads one workload of a case, and collects its problems after those of the case."""

    def __init__(
        self, file: _Reader, case: _CaseText, path: str, problems: Sequence[Problem]
    ) -> None:
        self.file = file
        self.case = case
        self.path = path
        self.problems = Problems(file.problems.lines)
        for problem in problems:
            self.problems.add_at(problem.path, problem.line, problem.message)

    def read(self, index: int) -> Workload:
        case, workload = self.case, self.case.workloads[index]
        path = f"{self.path}.workloads[{index}]"
        params = {
            name: self.file.options.params.get(name, value)
            for name, value in workload.params.items()
        }
        selector = workload.threshold_metric_selector or case.default_threshold_metric_selector
        return Workload(
            name=f"{case.name}/{workload.name}",
            ops=tuple(self._ops(params, f"{path}.params")),
            templates=self.file.templates,
            params=params,
            gates=self._gates(workload, path),
            scheduler_config=self._scheduler_config(),
            threshold=threshold_of(workload.threshold, selector),
            problems=tuple(  # the fields before have found them
                _by_case_name(in_file_order(self.problems.found), self.path, case.name)
            ),
        )

    def _ops(self, params: Mapping[str, Any], params_path: str) -> Iterator[Op]:
        collecting = Collecting()
        for index, raw in enumerate(self.case.workload_template):
            where = f"{self.path}.workloadTemplate[{index}]"
            op = self._op(raw, where, Parameters(params, params_path, self.problems))
            if op is None:
                continue
            op = completed(op, index, self.case.default_pod_template_path)
            reason = (
                contradiction(op)
                or collecting.problem(op)
                or template_problem(op, self.file.templates)
            )
            if reason:
                self.problems.add(where, reason)
            else:
                yield op

    def _op(self, raw: Any, path: str, params: Parameters) -> Op | None:
        opcode = raw.get("opcode") if isinstance(raw, dict) else None
        if not isinstance(opcode, str) or opcode not in OPCODES:
            self.problems.add(path, _unknown(opcode))
            return None
        filled = params.fill(raw, path)
        if not params.are_complete:
            return None
        found = Problems()
        op = decode(filled, OPCODES[opcode], path, found)
        for problem in found.found:  # a bad value is reported at its parameter
            self.problems.add(params.origin.get(problem.path, problem.path), problem.message)
        return op if not found else None

    def _gates(self, workload: _WorkloadText, path: str) -> FeatureGates:
        chosen = self.case.feature_gates | workload.feature_gates
        settings = [f"{name}={str(value).lower()}" for name, value in chosen.items()]
        try:
            return feature_gates.parse(settings, self.file.options.release)
        except ConfigError as error:
            where = child(path if workload.feature_gates else self.path, "featureGates")
            for problem in error.problems:
                self.problems.add(where, problem.message)
        return FeatureGates(self.file.options.release)

    def _scheduler_config(self) -> Path | None:
        if not self.case.scheduler_config_path:
            return None
        path = self.file.folder / self.case.scheduler_config_path
        if not path.is_file():
            where = child(self.path, "schedulerConfigPath")
            self.problems.add(where, f"{self.case.scheduler_config_path} is not a file")
        return path


def problem_line(problems: Sequence[Problem]) -> str:
    """Return one line that says why a workload cannot run, and which operation is the cause."""
    about_ops = [problem for problem in problems if ".workloadTemplate[" in problem.path]
    return str((about_ops or problems)[0]).replace("\n", " ")


def _unknown(opcode: Any) -> str:
    hint = did_you_mean(opcode, OPCODES) if isinstance(opcode, str) else ""
    hint = hint or f"; there are: {', '.join(OPCODES)}"
    return f"no operation has opcode {show(opcode)}{hint}"


def _names(case: Any) -> tuple[Any, list[str]]:
    """Return the name of a case that cannot be read, and those of its workloads."""
    match case:
        case {"name": str(name), "workloads": [*workloads]}:
            return name, [each["name"] for each in workloads if _has_name(each)]
        case {"name": name}:
            return name, []
    return None, []


def _has_name(workload: Any) -> bool:
    return isinstance(workload, dict) and isinstance(workload.get("name"), str)


def _by_case_name(problems: Sequence[Problem], path: str, name: Any) -> Iterator[Problem]:
    """Replace the index of a case by its name: ``[2].workloads`` becomes ``Basic.workloads``."""
    for problem in problems:
        if isinstance(name, str) and problem.path.startswith(path):
            yield problem._replace(path=f"{name}{problem.path[len(path) :]}")
        else:
            yield problem
