"""Patterns of custom resource definitions: Go's regular expressions, matched in linear time.

Python's `re` knows other syntax, and a pattern of a client could keep it busy for ever.
"""

from __future__ import annotations

from functools import lru_cache

import re2  # type: ignore[import-untyped]  # it brings no types


def pattern_problem(pattern: str) -> str:
    """Why a pattern is none; empty when it is one."""
    try:
        _compiled(pattern)
    except re2.error as error:
        detail = error.args[0]
        return detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return ""


def fits(pattern: str, text: str) -> bool:
    """Whether a text has the pattern somewhere in it."""
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False  # the client is told; our error stream is not its place
    return re2.compile(pattern, options=options)
