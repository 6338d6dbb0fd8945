"""Failures of plugins in a replay: each is logged once with its traceback, and then counted.

A plugin that fails fails for every pod and node, thousands of times.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from podium.framework import calls
from podium.logs import Line, get_logger

log = get_logger(__name__)


@contextmanager
def repeats_counted() -> Iterator[None]:
    """Log only the first failure of a plugin at an extension point, and at the end how many."""
    failures: Counter[tuple[str, str]] = Counter()

    def is_first(record: logging.LogRecord) -> bool:
        if not isinstance(record.msg, Line) or record.msg.event != calls.FAILED:
            return True
        point = record.msg.data["plugin"], record.msg.data["point"]
        failures[point] += 1
        return failures[point] == 1

    logger = logging.getLogger(calls.__name__)
    logger.addFilter(is_first)
    try:
        yield
    finally:
        logger.removeFilter(is_first)
        for (plugin, point), times in failures.items():
            if times > 1:
                log.warning("the plugin failed again", plugin=plugin, point=point, times=times - 1)
