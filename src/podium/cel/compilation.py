"""Compile expressions: parse, check, validate, estimate, and build the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from podium.cel.checker import Checked, check
from podium.cel.costs import estimate
from podium.cel.environment import Environment
from podium.cel.issues import Issue, Issues, report
from podium.cel.metered import MeteredProgram, build_metered
from podium.cel.parser import parse
from podium.cel.program import Program, build
from podium.cel.token_stream import TOO_DEEP
from podium.cel.types import Type
from podium.cel.validators import validate
from podium.errors import InvalidExpression

P = TypeVar("P", bound=Program)


@dataclass(frozen=True, slots=True)
class Compiled(Generic[P]):
    """A compiled expression; ``cost`` is the most that one evaluation can cost.

    ``names`` has the variables and types that the expression refers to.
    """

    program: P
    output: Type
    cost: int
    names: frozenset[str]


def compile_expression(source: str, environment: Environment, limit: int) -> Compiled[Program]:
    """Compile once, evaluate often; raise ``InvalidExpression`` with cel-go's report."""
    try:
        checked, cost, program = _build(source, environment)
        if cost > limit:
            program = build_metered(checked, environment, limit)
    except RecursionError:
        raise _too_deep(source) from None
    return _compiled(checked, cost, program)


def compile_metered(source: str, environment: Environment, limit: int) -> Compiled[MeteredProgram]:
    """Compile an expression that reports the cost of each evaluation.

    Raises ``InvalidExpression`` with cel-go's report.
    """
    try:
        # Building the plain program reports constant parts that always fail.
        checked, cost, _ = _build(source, environment)
        return _compiled(checked, cost, build_metered(checked, environment, limit))
    except RecursionError:
        raise _too_deep(source) from None


def _build(source: str, environment: Environment) -> tuple[Checked, int, Program]:
    try:
        quoted = environment.has_quoted_names
        tree = parse(source, environment.macros, has_quoted_names=quoted)
        checked = check(tree, environment)
        validate(checked, environment)
        return checked, estimate(checked, environment).high, build(checked, environment)
    except Issues as issues:
        raise InvalidExpression(report(source, issues.found)) from None


def _compiled(checked: Checked, cost: int, program: P) -> Compiled[P]:
    names = frozenset(name.removeprefix(".") for name in checked.names.values())
    return Compiled(program, checked.output, cost, names)


def _too_deep(source: str) -> InvalidExpression:
    return InvalidExpression(report(source, (Issue(-1, TOO_DEEP),)))
