"""Compile expressions: parse, check, validate, estimate, and build the program."""

from __future__ import annotations

from dataclasses import dataclass

from podium.cel.checker import check
from podium.cel.costs import estimate
from podium.cel.environment import Environment
from podium.cel.issues import Issue, Issues, report
from podium.cel.metered import build_metered
from podium.cel.parser import parse
from podium.cel.program import Program, build
from podium.cel.token_stream import TOO_DEEP
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
        quoted = environment.has_quoted_names
        tree = parse(source, environment.macros, has_quoted_names=quoted)
        checked = check(tree, environment)
        validate(checked, environment)
        cost = estimate(checked, environment).high
        program = build(checked, environment)
        if cost > limit:
            program = build_metered(checked, environment, limit)
    except Issues as issues:
        raise InvalidExpression(report(source, issues.found)) from None
    except RecursionError:
        raise InvalidExpression(report(source, (Issue(-1, TOO_DEEP),))) from None
    return Compiled(program, checked.output, cost)
