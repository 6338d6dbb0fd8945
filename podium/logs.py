"""get_logger(): an event and keyword data, on the standard library's logging."""

from __future__ import annotations

import logging
from typing import Any


class Logger:
    """``log.info("pod bound", pod=pod.key)``: the event is constant, data are keywords."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, **data: Any) -> None:
        self._log(logging.DEBUG, event, data)

    def info(self, event: str, **data: Any) -> None:
        self._log(logging.INFO, event, data)

    def warning(self, event: str, **data: Any) -> None:
        self._log(logging.WARNING, event, data)

    def error(self, event: str, fault: BaseException | None = None, /, **data: Any) -> None:
        """For faults: the traceback of this one, or of the exception being handled, comes along."""
        self._log(logging.ERROR, event, data, exc_info=fault or True)

    def misuse(self, event: str, **data: Any) -> None:
        """For errors that a person must mend: the data say what is wrong, a traceback would not."""
        self._log(logging.ERROR, event, data)

    def v(self, verbosity: int, event: str, **data: Any) -> None:
        """A line for those who ask for this much: ``-v 2`` shows verbosity 0 to 2."""
        self._log(level_of(verbosity), event, data)

    def shows(self, verbosity: int) -> bool:
        """Whether ``v`` with this verbosity writes anything: for lines that cost something."""
        return self._logger.isEnabledFor(level_of(verbosity))

    def _log(
        self, level: int, event: str, data: dict[str, Any], exc_info: BaseException | bool = False
    ) -> None:
        if self._logger.isEnabledFor(level):
            pairs = "".join(f" {key}={value!r}" for key, value in data.items())
            self._logger.log(level, "%s%s", event, pairs, exc_info=exc_info)


def level_of(verbosity: int) -> int:
    """The level of Python's logging that shows lines up to this verbosity; 10 shows everything."""
    return max(logging.INFO - verbosity, logging.DEBUG)


def get_logger(name: str) -> Logger:
    return Logger(name)
