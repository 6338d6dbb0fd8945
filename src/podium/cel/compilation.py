"""Compile expressions: parse, check, validate, estimate, and build the program."""

from __future__ import annotations

from dataclasses import dataclass

from podium.cel.checker import check
from podium.cel.costs import estimate
from podium.cel.environment import Environment
from podium.cel.issues import Issue, Issues, report
from podium.cel.metered import build_metered
from podium.cel.parser import MAX_DEPTH, parse
from podium.cel.program import Program, build
from podium.cel.types import Type
from podium.cel.validators import validate
from podium.errors import InvalidExpression


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled expression; ``cost`` is the most that one evaluation can cost."""

    program: Program
    output: Type
    cost: int


def compile_expression(source: str, environment: Environment, limit: int) -> Compiled:
    """Compile once, evaluate often; raise ``InvalidExpression`` with cel-go's report."""
    try:
        checked = check(parse(source, environment.macros), environment)
        validate(checked, environment)
        cost = estimate(checked, environment).high
        if cost > limit:
            program = build_metered(checked, environment, limit)
        else:
            program = build(checked, environment)
    except Issues as issues:
        raise InvalidExpression(report(source, issues.found)) from None
    except RecursionError:
        deep = Issue(-1, f"expression recursion limit exceeded: {MAX_DEPTH}")
        raise InvalidExpression(report(source, (deep,))) from None
    return Compiled(program, checked.output, cost)
