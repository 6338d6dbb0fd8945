"""Compile the rules of one schema: expressions about `self`, and `oldSelf` if they compare."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from podium.apiserver.expressions.paths import normal_path
from podium.apiserver.statuses import Json
from podium.cel import BASE, Compiled, Environment, compile_metered, types
from podium.cel.lists import INCLUDES
from podium.cel.metered import MeteredProgram
from podium.cel.schema_types import LARGEST_REQUEST, Declarations, Declared
from podium.cel.types import Type, optional_of
from podium.errors import InvalidExpression
from podium.release import V1_36, Release

RULES = "x-kubernetes-validations"
OLD = "oldSelf"
COST_OF_ONE_CALL = 1_000_000
# kube-apiserver takes another number each time, so that no rule can name the type.
_SELF_TYPE = "selfType0"

Expression = Compiled[MeteredProgram]


class _Everything:
    def __contains__(self, _: object) -> bool:
        return True


class Stored(NamedTuple):
    """Expressions that were accepted before; new ones are held to the previous release."""

    rules: Container[object] = ()
    messages: Container[object] = ()


EVERYTHING = Stored(_Everything(), _Everything())


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule. ``expression`` is ``None`` if the rule is empty or has a ``problem``."""

    raw: Json
    problem: str = ""
    message_problem: str = ""
    expression: Expression | None = None
    message: Expression | None = None
    field: str = ""  # where a violation is reported, below the value

    @property
    def uses_old(self) -> bool:
        return self.expression is not None and OLD in self.expression.names

    @property
    def is_optional(self) -> bool:
        """Whether `oldSelf` is an optional value, so that the rule also holds for new objects."""
        return bool(self.raw.get("optionalOldSelf"))

    @property
    def label(self) -> str:
        """Return what messages about the rule call it."""
        return str(self.raw.get("message") or self.raw.get("rule") or "").strip()


class Compiler:
    """Compiles the rules of schemas as one release does."""

    def __init__(self, release: Release, stored: Stored = EVERYTHING) -> None:
        self._release = release
        self._stored = stored

    def declare(self, schema: Json, is_resource: bool) -> Declared | None:
        return Declarations(self._release).declare(schema, _SELF_TYPE, is_resource)

    def compile(self, schema: Json, is_resource: bool) -> list[Rule]:
        """Compile the rules of a schema, but none below it."""
        declarations = Declarations(self._release)
        declared = declarations.declare(schema, _SELF_TYPE, is_resource)
        if declared is None:
            return []
        scope = Environment(objects=declarations.objects, default_shape=declared.shape)
        return [self._rule(raw, schema, scope, declared.type) for raw in schema.get(RULES) or ()]

    def _rule(self, raw: Json, schema: Json, scope: Environment, kind: Type) -> Rule:
        text = raw.get("rule") or ""
        if not text.strip():
            return Rule(raw)
        scope = scope.with_variables(_variables(raw, kind))
        try:
            rule = self._compiled(text, scope, text in self._stored.rules)
        except InvalidExpression as error:
            return Rule(raw, problem=_message_of(error))
        if rule.output != types.BOOL:
            return Rule(raw, problem="cel expression must evaluate to a bool")
        path = normal_path(raw.get("fieldPath") or "", schema) or ""
        return self._with_message(Rule(raw, expression=rule, field=path), scope)

    def _with_message(self, rule: Rule, scope: Environment) -> Rule:
        text = rule.raw.get("messageExpression")
        if not text:
            return rule
        try:
            message = self._compiled(text, scope, text in self._stored.messages)
        except InvalidExpression as error:
            problem = _message_of(error, "instantiation")
            return replace(rule, message_problem=f"messageExpression {problem}")
        if message.output != types.STRING:
            return replace(rule, message_problem="messageExpression must evaluate to a string")
        return replace(rule, message=message)

    def _compiled(self, text: str, scope: Environment, is_stored: bool) -> Expression:
        environment = replace(
            _base(self._release, is_stored),
            objects=scope.objects,
            variables=scope.variables,
            default_shape=scope.default_shape,
        )
        return compile_metered(text, environment, COST_OF_ONE_CALL)


def _variables(raw: Json, kind: Type) -> dict[str, Type]:
    old = optional_of(kind) if raw.get("optionalOldSelf") else kind
    return {"self": kind, OLD: old}


def _message_of(error: InvalidExpression, instantiation: str = "program instantiation") -> str:
    prefix, message = "program instantiation", str(error)
    if message.startswith(prefix):
        return instantiation + message.removeprefix(prefix)
    return f"compilation failed: {message}"


@lru_cache(maxsize=8)
def _base(release: Release, is_stored: bool) -> Environment:
    is_newer = release > V1_36
    base = replace(BASE, has_quoted_names=is_newer)
    return base.with_libraries(INCLUDES) if is_newer and is_stored else base


def schema_of(version: Json) -> Json:
    """Return the schema of a version of a definition; empty if it has none."""
    return (version.get("schema") or {}).get("openAPIV3Schema") or {}


def rules_of(schema: Any) -> list[Json]:
    return schema.get(RULES) or [] if isinstance(schema, dict) else []


def most_values(declared: Declared) -> int:
    """Return how many values of a type a request can have where nothing else limits them."""
    return LARGEST_REQUEST // (declared.min_bytes + 1)
