"""What is wrong with the rules of a custom resource definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from podium.apiserver import statuses
from podium.apiserver.expressions.changes import Change
from podium.apiserver.expressions.objects import Subject, Validator
from podium.apiserver.expressions.paths import normal_path
from podium.apiserver.expressions.rules import (
    RULES,
    Compiler,
    Rule,
    Stored,
    most_values,
    rules_of,
    schema_of,
)
from podium.apiserver.statuses import Cause, Json
from podium.cel.schema_types import is_embedded
from podium.cel.values import MAX_UINT
from podium.release import Release

COST_OF_A_RULE = 10_000_000
COST_OF_A_DEFINITION = 100_000_000
REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_SHOWN_RULES = 4  # of the rules that make a definition too expensive
COMBINED = ("allOf", "anyOf", "oneOf")
_LINE_BREAKS = re.compile("[\n\r]")
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """A part of a schema, and what the parts around it mean for its rules."""

    schema: Json
    path: str
    is_resource: bool = False
    max_values: int | None = 1  # in one object; None if nothing limits their number
    uncorrelated: str = ""  # the list above whose items cannot be compared with older ones

    def below(self) -> Iterator[SchemaPart]:
        """Yield the schemas of which this one is made."""
        schema, max_values = self.schema, _product(self.max_values, _max_children(self.schema))
        child = replace(self, max_values=max_values)
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            yield child._at(more, f"{self.path}.additionalProperties")
        for name, one in (schema.get("properties") or {}).items():
            if isinstance(one, dict):
                yield child._at(one, f"{self.path}.properties[{name}]")
        if isinstance(schema.get("items"), dict):
            if schema.get("x-kubernetes-list-type") != "map":
                child = replace(child, uncorrelated=self.uncorrelated or self.path)
            yield child._at(schema["items"], f"{self.path}.items")

    def _at(self, schema: Json, path: str) -> SchemaPart:
        return replace(self, schema=schema, path=path, is_resource=is_embedded(schema))


def _max_children(schema: Json) -> int | None:
    match schema.get("type"):
        case "object" if schema.get("additionalProperties") is not None:
            limit = schema.get("maxProperties")
        case "array":
            limit = schema.get("maxItems")
        case _:
            return 1
    return None if limit is None else max(limit, 0)


def _product(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else min(left * right, MAX_UINT)


def _parts_of(part: SchemaPart) -> Iterator[SchemaPart]:
    """Yield a schema and all below it, the innermost first."""
    for below in part.below():
        yield from _parts_of(below)
    yield part


@dataclass(slots=True)
class _Costs:
    """The sum of what the rules of a schema can cost."""

    total: int = 0
    largest: list[tuple[int, str]] = field(default_factory=list)

    def add(self, path: str, cost: int) -> None:
        self.total = min(self.total + cost, MAX_UINT)
        if cost >= COST_OF_A_DEFINITION // 100:
            self.largest.append((cost, path))

    def causes(self, path: str) -> Iterator[Cause]:
        if self.total <= COST_OF_A_DEFINITION:
            return
        self.largest.sort(key=lambda one: -one[0])
        for _, where in self.largest[:_SHOWN_RULES]:
            detail = (
                "contributed to estimated rule cost total exceeding cost limit for entire "
                "OpenAPIv3 schema"
            )
            yield statuses.not_allowed(where, detail)
        what = f"{RULES} estimated rule cost total for entire OpenAPIv3 schema"
        yield statuses.not_allowed(path, _exceeded(what, self.total, COST_OF_A_DEFINITION))


class Version(NamedTuple):
    """The schema of a version, and where it stands in the definition."""

    schema: Json
    path: str
    is_unchanged: bool = False


def nested_causes(version: Version) -> Iterator[Cause]:
    """Yield the rules that stand where kube-apiserver evaluates none."""
    for part in _parts_of(SchemaPart(version.schema, version.path)):
        for name in COMBINED:
            for index, one in enumerate(part.schema.get(name) or ()):
                yield from _forbidden(one, f"{part.path}.{name}[{index}]")
        yield from _forbidden(part.schema.get("not"), f"{part.path}.not")


def _forbidden(schema: Any, path: str) -> Iterator[Cause]:
    if not isinstance(schema, dict):
        return
    for part in _parts_of(SchemaPart(schema, path)):
        if rules_of(part.schema):
            detail = "must be empty to be structural"
            yield statuses.not_allowed(f"{part.path}.{RULES}", detail)


def form_causes(version: Version) -> Iterator[Cause]:
    """Yield what is wrong with the rules before their expressions are looked at."""
    for part in _parts_of(SchemaPart(version.schema, version.path)):
        for index, raw in enumerate(rules_of(part.schema)):
            yield from _form(raw, part.schema, f"{part.path}.{RULES}[{index}]")


def _form(raw: Json, schema: Json, path: str) -> Iterator[Cause]:
    yield from _text_causes(raw, path)
    if raw.get("messageExpression") and not raw["messageExpression"].strip():
        detail = "messageExpression must be non-empty if specified"
        yield statuses.required(f"{path}.messageExpression", detail)
    reason = raw.get("reason")
    if reason is not None and reason not in REASONS:
        yield statuses.unsupported(f"{path}.reason", reason, REASONS)
    yield from _field_causes(raw.get("fieldPath") or "", schema, f"{path}.fieldPath")


def _text_causes(raw: Json, path: str) -> Iterator[Cause]:
    rule, message = (raw.get("rule") or "").strip(), raw.get("message") or ""
    if not rule:
        yield statuses.required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield statuses.bad_value(f"{path}.message", message, "must be non-empty if specified")
    elif _LINE_BREAKS.search(message.strip()):
        yield statuses.bad_value(f"{path}.message", message, "must not contain line breaks")
    elif _LINE_BREAKS.search(rule) and not message.strip():
        detail = "message must be specified if rule contains line breaks"
        yield statuses.required(f"{path}.message", detail)


def _field_causes(text: str, schema: Json, path: str) -> Iterator[Cause]:
    if text and not text.strip():
        yield statuses.bad_value(path, text, "must be non-empty if specified")
    if _LINE_BREAKS.search(text):
        yield statuses.bad_value(path, text, "must not contain line breaks")
    if text and normal_path(text, schema) is None:
        yield statuses.bad_value(path, text, "must be a valid path")


def expression_causes(
    version: Version, known: Iterable[Cause], stored: Stored, release: Release
) -> Iterator[Cause]:
    """Yield what is wrong with the expressions of a schema.

    Rules are left out where something else is wrong with their schema, or with one inside it.
    """
    check = _Check(Compiler(release, stored), version.is_unchanged)
    wrong = [cause.field for cause in known]
    for part in _parts_of(SchemaPart(version.schema, version.path, is_resource=True)):
        if rules_of(part.schema) and not any(one.startswith(part.path) for one in wrong):
            yield from check.part_causes(part)
    yield from check.costs.causes(version.path)


@dataclass(frozen=True, slots=True)
class _Check:
    """Checks the expressions of one schema, and adds up what they can cost."""

    compiler: Compiler
    is_unchanged: bool
    costs: _Costs = field(default_factory=_Costs)

    def part_causes(self, part: SchemaPart) -> Iterator[Cause]:
        path = f"{part.path}.{RULES}"
        declared = self.compiler.declare(part.schema, part.is_resource)
        if declared is None:
            why = "unable to convert structural schema to CEL declarations"
            detail = f"failed to construct type information for {RULES} rules: {why}"
            yield statuses.internal(path, f"internal error: {detail}")
            return
        max_values = most_values(declared) if part.max_values is None else part.max_values
        for index, rule in enumerate(self.compiler.compile(part.schema, part.is_resource)):
            where = f"{path}[{index}]"
            yield from self._rule_causes(rule, where, max_values)
            yield from self._message_causes(rule, where)
            yield from _old_causes(rule, where, part.uncorrelated)

    def _rule_causes(self, rule: Rule, path: str, max_values: int) -> Iterator[Cause]:
        if rule.problem:
            yield _rule_cause(f"{path}.rule", rule.raw, rule.problem)
        if rule.expression is not None:
            cost = min(rule.expression.cost * max_values, MAX_UINT)
            yield from self._cost_causes("rule", f"{path}.rule", cost)

    def _message_causes(self, rule: Rule, path: str) -> Iterator[Cause]:
        path = f"{path}.messageExpression"
        if rule.message_problem:
            yield _rule_cause(path, rule.raw, rule.message_problem)
        if rule.message is not None:
            yield from self._cost_causes("messageExpression", path, rule.message.cost)

    def _cost_causes(self, what: str, path: str, cost: int) -> Iterator[Cause]:
        self.costs.add(path, cost)
        if cost > COST_OF_A_RULE and not self.is_unchanged:
            detail = _exceeded(f"estimated {what} cost", cost, COST_OF_A_RULE)
            yield statuses.not_allowed(path, detail)


def _old_causes(rule: Rule, path: str, uncorrelated: str) -> Iterator[Cause]:
    if rule.uses_old and uncorrelated:
        detail = (
            "oldSelf cannot be used on the uncorrelatable portion of the schema within "
            f"{uncorrelated}"
        )
        yield statuses.bad_value(f"{path}.rule", rule.raw["rule"], detail)
    elif not rule.uses_old and rule.raw.get("optionalOldSelf") is not None:
        detail = "may not be set if oldSelf is not used in rule"
        yield statuses.bad_value(f"{path}.optionalOldSelf", rule.raw["optionalOldSelf"], detail)


def _rule_cause(path: str, raw: Json, detail: str) -> Cause:
    """Return a cause that shows the rule as Go writes its struct."""
    shown = {
        "Rule": raw.get("rule") or "",
        "Message": raw.get("message") or "",
        "MessageExpression": raw.get("messageExpression") or "",
        "Reason": raw.get("reason"),
        "FieldPath": raw.get("fieldPath") or "",
        "OptionalOldSelf": raw.get("optionalOldSelf"),
    }
    text = msgspec.json.encode(shown).decode()
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Cause("FieldValueInvalid", path, f"Invalid value: {text}: {detail}")


def _exceeded(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > 100:
        shown = "more than 100x"
    else:
        shown = f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {shown} {_ADVICE}"


def default_causes(version: Version, release: Release) -> Iterator[Cause]:
    """Yield the rules that a default breaks, for new objects or for those that have it already."""
    for part in _parts_of(SchemaPart(version.schema, version.path, is_resource=True)):
        default = part.schema.get("default")
        if default is None:
            continue
        validator = Validator(part.schema, release, part.is_resource)
        for old in (default, None):
            subject = Subject(f"{part.path}.default", default, old, Change())
            found = validator.check_value(subject).causes
            yield from found
            if found:
                break


def expressions_of(definition: Json) -> Stored:
    """Return the expressions of a definition, wherever they stand."""
    rules: set[str] = set()
    messages: set[str] = set()
    for version in (definition.get("spec") or {}).get("versions") or []:
        for part in _parts_of(SchemaPart(schema_of(version), "")):
            for raw in rules_of(part.schema):
                rules.add(raw.get("rule") or "")
                messages.add(raw.get("messageExpression") or "")
    return Stored(rules, messages)
