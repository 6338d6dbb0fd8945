"""Structured logs: a constant event and keyword data, on top of the standard library's logging.

Modules call ``get_logger``; a program calls ``write_logs`` once to choose text or JSON.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Mapping
from copy import copy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from podium.log_streams import Streams

TEXT: Final = "text"
JSON: Final = "json"

_TEXT_LINE: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"
# A plugin's exception may hold anything; a terminal would obey control characters.
_ESCAPES: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}
_PACKAGE: Final = Path(__file__).parent


class Line(NamedTuple):
    """One log line: an event and its data; the formatter decides how it is written."""

    event: str
    data: Mapping[str, Any]

    def __str__(self) -> str:
        pairs = (f" {key}={_value_text(value)}" for key, value in self.data.items())
        return f"{self.event}{''.join(pairs)}"


def _value_text(value: object) -> str:
    """Format a value; as in klog, several lines stay several lines, between ``<`` and ``>``."""
    if not isinstance(value, str) or "\n" not in value:
        return repr(value)
    return "<\n" + "".join(f"\t{line}\n" for line in value.split("\n")) + " >"


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
        """Log an error with the traceback of ``fault`` or of the exception being handled."""
        self._log(logging.ERROR, event, data, exc_info=fault or True)

    def problem(self, event: str, **data: Any) -> None:
        """Log an error without a traceback, where the data say what is wrong."""
        self._log(logging.ERROR, event, data)

    def v(self, verbosity: int, event: str, **data: Any) -> None:
        """Log at a verbosity: ``-v 2`` shows verbosity 0 to 2."""
        level = level_of(verbosity)
        if self._logger.isEnabledFor(level):  # most often not, and then this is all there is to do
            self._log(level, event, data)

    def _log(
        self, level: int, event: str, data: dict[str, Any], exc_info: BaseException | bool = False
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, Line(event, data), exc_info=exc_info, stacklevel=3)


def level_of(verbosity: int) -> int:
    """Return the logging level that shows lines up to this verbosity; 10 shows everything."""
    return max(logging.INFO - verbosity, logging.DEBUG)


def get_logger(name: str) -> Logger:
    return Logger(name)


def write_logs(
    verbosity: int,
    form: str = "",
    modules: Mapping[str, int] | None = None,
    streams: Mapping[str, Streams] | None = None,
) -> None:
    """Write lines up to this verbosity as text or JSON; by default, whichever suits stderr.

    ``modules`` maps patterns to verbosities. A pattern is matched with the last part of a module's
    name, as klog matches files. ``streams`` are those of each form; without, all goes to stderr.
    """
    form = form or suitable_form(sys.stderr)
    chosen = (streams or {}).get(form, Streams())
    # As upstream: JSON has no warnings, text counts them among the errors.
    handlers = chosen.handlers(logging.ERROR if form == JSON else logging.WARNING)
    for handler in handlers:
        handler.setFormatter(JsonFormatter() if form == JSON else TextFormatter())
    logging.basicConfig(level=level_of(verbosity), handlers=handlers)
    for name in _module_names() if modules else ():
        own = [level for pattern, level in (modules or {}).items() if _matches(name, pattern)]
        if own:
            logging.getLogger(name).setLevel(level_of(own[0]))


def escape_tracebacks() -> None:
    """Escape control characters also where ``write_logs`` is not called."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(SafeFormatter())


def suitable_form(stream: TextIO) -> str:
    """Return text for a terminal, and JSON for a file or a pipe."""
    return TEXT if stream.isatty() else JSON


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.rpartition(".")[2], pattern)


def _module_names() -> Iterable[str]:
    """Yield every module of podium, because some are loaded only later."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts)


class SafeFormatter(logging.Formatter):
    """The usual text, but control characters in tracebacks are escaped."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name in logging
        return super().formatException(ei).translate(_ESCAPES)


class TextFormatter(SafeFormatter):
    """Text for people. As in klog, lines of every verbosity are marked as INFO."""

    def __init__(self) -> None:
        super().__init__(_TEXT_LINE)

    def format(self, record: logging.LogRecord) -> str:
        if record.levelno < logging.INFO:
            record = copy(record)  # other handlers get the same record
            record.levelname = logging.getLevelName(logging.INFO)
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """One JSON object per line with kube-scheduler's keys: ts, caller, msg, v, then the data."""

    def format(self, record: logging.LogRecord) -> str:
        line = record.msg if isinstance(record.msg, Line) else Line(record.getMessage(), {})
        fields: dict[str, Any] = {
            "ts": round(record.created * 1000, 3),
            "level": record.levelname.lower(),
            "caller": f"{record.name}:{record.lineno}",
            "msg": line.event,
        }
        if record.levelno <= logging.INFO:
            fields["level"], fields["v"] = "info", logging.INFO - record.levelno
        if record.exc_info and record.exc_info[1]:
            fields["err"] = str(record.exc_info[1])
            fields["stacktrace"] = self.formatException(record.exc_info)
        # Data never override these keys, whatever they are called.
        return json.dumps({**fields, **line.data, **fields}, default=str)
