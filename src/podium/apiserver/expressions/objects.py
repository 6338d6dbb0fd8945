"""Evaluate the rules of a definition for a custom object."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podium.apiserver import statuses
from podium.apiserver.expressions.changes import Change, Pair, by_key, key_of, keys_of
from podium.apiserver.expressions.rules import OLD, Compiler, Rule, rules_of
from podium.apiserver.statuses import Cause, Json
from podium.cel.schema_types import is_embedded, with_metadata
from podium.cel.schema_values import to_value
from podium.cel.values import NONE, TOO_EXPENSIVE, Optional, Value
from podium.errors import EvaluationError
from podium.release import Release

BUDGET = 10_000_000
LONGEST_MESSAGE = 5 * 1024
ROOT = "<nil>"  # the path of an object itself, as Go writes it
_NOT_RUN = "no further validation rules will be run"
_OUT_OF_BUDGET = f"failed due to running out of cost budget, {_NOT_RUN}"
_NO_OVERLOAD = "call arguments did not match a supported operator, function or macro signature"
# An object with such a cause must be mended before any rule is evaluated.
_BLOCKING = frozenset(
    (
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    )
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class _Stopped(Exception):
    """The budget is used up; what was found until then counts."""


@dataclass(slots=True)
class Findings:
    """The problems that rules have found in an object, and what the rules may still cost.

    Violations in parts that an update leaves as they were are only warnings.
    """

    causes: list[Cause] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    budget: int = BUDGET

    def add(self, cause: Cause, is_tolerated: bool = False) -> None:
        if is_tolerated:
            self.warnings.append(str(cause))
        else:
            self.causes.append(cause)

    def stop(self, cause: Cause, is_tolerated: bool = False) -> None:
        """Add a cause and end the evaluation of the object."""
        self.add(cause, is_tolerated)
        raise _Stopped


class Subject(NamedTuple):
    """A value in an object with the value that it replaces.

    ``change`` tells whether it is as before.
    """

    path: str
    value: Any
    old: Any
    change: Change

    def below(self, step: str, name: str) -> Subject:
        """Return the field or entry with a name."""
        path = f"{self.path}{step}".removeprefix(".")
        old = self.old.get(name) if isinstance(self.old, dict) else None
        return Subject(path, self.value[name], old, self.change.below(name))

    def elements(self, schema: Json) -> Iterator[Subject]:
        names = keys_of(schema)
        before = by_key(names, self.old)
        for index, value in enumerate(self.value):
            old = before.get(key_of(names, value))
            yield Subject(f"{self.path}[{index}]", value, old, self.change.element(index))


class Validator:
    """The compiled rules of a schema and of all schemas below it."""

    def __init__(self, schema: Json, release: Release, is_resource: bool = True) -> None:
        self.schema = schema
        self.rules = Compiler(release).compile(schema, is_resource) if rules_of(schema) else []
        self._schema_with_metadata = with_metadata(schema, release) if is_resource else schema
        self._release = release
        self._items = validator_of(schema.get("items"), release)
        self._values = validator_of(schema.get("additionalProperties"), release)
        below = schema.get("properties") or {}
        found = {name: validator_of(one, release) for name, one in below.items()}
        self._properties = {name: one for name, one in found.items() if one is not None}

    @property
    def is_empty(self) -> bool:
        return not (self.rules or self._items or self._values or self._properties)

    @property
    def type(self) -> str:
        return str(self.schema.get("type") or "")

    def convert(self, value: Any) -> Value:
        return to_value(value, self._schema_with_metadata, self._release)

    def check(self, new: Json, old: Json | None) -> Findings:
        """Evaluate the rules for an object that is new, or that replaces an old one."""
        change = Change() if old is None else Change(Pair(new, old, self.schema))
        return self.check_value(Subject("", new, old, change))

    def check_after(self, known: Iterable[Cause], new: Json, old: Json | None) -> Findings:
        """Evaluate the rules, unless what is known about the object rules that out."""
        if any(cause.reason in _BLOCKING for cause in known):
            return Findings([statuses.bad_value(ROOT, None, _NOT_CHECKED)])
        return self.check(new, old)

    def check_value(self, subject: Subject, findings: Findings | None = None) -> Findings:
        """Add what the rules say about a value, within the budget that is left."""
        findings = findings or Findings()
        with contextlib.suppress(_Stopped):
            self._visit(subject, findings)
        return findings

    def _visit(self, subject: Subject, findings: Findings) -> None:
        if subject.value is None:
            return
        if self.rules:
            _Evaluation(self, subject, findings).run()
        match subject.value:
            case list() if self._items is not None:
                for element in subject.elements(self.schema):
                    self._items._visit(element, findings)
            case dict():
                self._visit_fields(subject, findings)

    def _visit_fields(self, subject: Subject, findings: Findings) -> None:
        for name in subject.value:
            if name in self._properties:
                self._properties[name]._visit(subject.below(f".{name}", name), findings)
            elif self._values is not None:
                self._values._visit(subject.below(f"[{name}]", name), findings)


def validator_of(schema: Any, release: Release) -> Validator | None:
    """Compile the rules of a schema below another one; None if it has none."""
    if not isinstance(schema, dict):
        return None
    found = Validator(schema, release, is_embedded(schema))
    return None if found.is_empty else found


@dataclass(slots=True)
class _Evaluation:
    """The rules of one schema for one value."""

    validator: Validator
    subject: Subject
    findings: Findings

    def run(self) -> None:
        """Evaluate the rules in order, within the budget that is left."""
        if self.findings.budget <= 0:
            self.findings.stop(self._invalid(f"validation {_OUT_OF_BUDGET}"))
        try:
            plain, optional = self._scopes()
        except EvaluationError as error:
            for rule in self._applicable():
                self.findings.add(self._invalid(_failure(str(error), rule)))
            return
        for rule in self._applicable():
            self._judge(rule, optional if rule.is_optional else plain)

    def _applicable(self) -> Iterator[Rule]:
        """Yield the rules to evaluate; one that compares needs something to compare with."""
        is_new = self.subject.old is None
        for rule in self.validator.rules:
            lacks_old = is_new and rule.uses_old and not rule.is_optional
            if rule.problem:
                self.findings.add(self._invalid(f"rule compile error: {rule.problem}"))
            elif rule.expression is not None and not lacks_old:
                yield rule

    def _scopes(self) -> tuple[dict[str, Value], dict[str, Value]]:
        """Return the values of variables, for rules with a plain and with an optional old value."""
        convert, old = self.validator.convert, self.subject.old
        found = {"self": convert(self.subject.value)}
        if not any(rule.uses_old for rule in self.validator.rules):
            return found, found
        if old is None:
            return found, {**found, OLD: NONE}
        before = convert(old)
        return {**found, OLD: before}, {**found, OLD: Optional(before)}

    def _invalid(self, detail: str, field: str = "") -> Cause:
        """Return a cause that is not about the value itself."""
        return statuses.bad_value(self._path(field), self.validator.type, detail)

    def _path(self, field: str) -> str:
        path = f"{self.subject.path}.{field}" if field else self.subject.path
        return path.removeprefix(".") or ROOT

    def _judge(self, rule: Rule, scope: dict[str, Value]) -> None:
        assert rule.expression is not None
        result, cost = rule.expression.program.measure(scope)
        if cost > self.findings.budget:
            self.findings.stop(self._invalid(f"validation {_OUT_OF_BUDGET}"))
        self.findings.budget -= cost
        if isinstance(result, EvaluationError):
            cause = self._invalid(_failure(str(result), rule))
            if str(result).startswith(TOO_EXPENSIVE):
                self.findings.stop(cause)
            self.findings.add(cause)
        elif result is not True:
            self._report(rule, scope)

    def _report(self, rule: Rule, scope: dict[str, Value]) -> None:
        """Add a violation, with the reason and the message that the rule asks for."""
        is_tolerated = not rule.uses_old and self.subject.change.is_unchanged()
        detail = self._message(rule, scope, is_tolerated)
        path, reason = self._path(rule.field), rule.raw.get("reason")
        is_shown = self.validator.type not in ("object", "array")
        value = self.subject.value if is_shown else statuses.OMITTED
        match reason:
            case "FieldValueForbidden":
                cause = statuses.not_allowed(path, detail)
            case "FieldValueRequired":
                cause = statuses.required(path, detail)
            case "FieldValueDuplicate":
                cause = statuses.duplicate(path, value)
            case _:
                cause = statuses.bad_value(path, value, detail)
        self.findings.add(cause, is_tolerated)

    def _message(self, rule: Rule, scope: dict[str, Value], is_tolerated: bool) -> str:
        """Return what to say about a violation; an expression that fails says nothing."""
        default = str(rule.raw.get("message") or "").strip() or f"failed rule: {rule.label}"
        if rule.message is None:
            return default
        result, cost = rule.message.program.measure(scope)
        if cost > self.findings.budget:
            detail = f"messageExpression evaluation {_OUT_OF_BUDGET}"
            self.findings.stop(self._invalid(detail, rule.field), is_tolerated)
        if isinstance(result, EvaluationError) and str(result).startswith(TOO_EXPENSIVE):
            text = statuses.quoted(rule.raw["messageExpression"])
            detail = f"{_NOT_RUN} due to call cost exceeds limit for messageExpression: {text}"
            self.findings.stop(self._invalid(detail, rule.field), is_tolerated)
        self.findings.budget -= cost
        message = result.strip() if isinstance(result, str) else ""
        is_usable = "\n" not in message and len(message.encode()) <= LONGEST_MESSAGE
        return message if message and is_usable else default


def _failure(error: str, rule: Rule) -> str:
    if error.startswith("no such overload"):
        return f"'{error}': {_NO_OVERLOAD} for rule: {rule.label}"
    if error.startswith(TOO_EXPENSIVE):
        return f"'{error}': {_NOT_RUN} due to call cost exceeds limit for rule: {rule.label}"
    return f"{error} evaluating rule: {rule.label}"
