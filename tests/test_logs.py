"""Log lines as text and as JSON, and which of them are written."""

import io
import json
import logging
from contextlib import contextmanager

import pytest

from podium import logs
from podium.logs import (
    JSON,
    TEXT,
    JsonFormatter,
    Line,
    TextFormatter,
    get_logger,
    suitable_form,
    write_logs,
)

log = get_logger(__name__)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@contextmanager
def fresh_process():
    """A root without handlers, as in a fresh process; everything is put back."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    names = [name for name in logging.root.manager.loggerDict if name.startswith("podium.")]
    levels = {name: logging.getLogger(name).level for name in names}
    root.handlers = []
    yield
    root.handlers = before
    root.setLevel(level)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("podium."):
            logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))


def record_of(emit, caplog):
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        emit()
    [record] = caplog.records
    return record


def as_json(emit, caplog):
    return json.loads(JsonFormatter().format(record_of(emit, caplog)))


def test_text_line(caplog):
    record = record_of(lambda: log.info("pod bound", pod="default/web", attempts=2), caplog)

    assert record.getMessage() == "pod bound pod='default/web' attempts=2"
    assert record.filename == "test_logs.py"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("a\nb", "what=<\n\ta\n\tb\n > n=1", id="lines"),
        pytest.param("a", "what='a' n=1", id="one-line"),
        pytest.param(["a\nb"], "what=['a\\nb'] n=1", id="in-a-list"),
    ],
)
def test_text_of_several_lines(value, shown):
    assert str(Line("e", {"what": value, "n": 1})) == f"e {shown}"


def test_text_that_looks_like_a_format(caplog):
    assert record_of(lambda: log.info("100%s %d"), caplog).getMessage() == "100%s %d"


@pytest.mark.parametrize(
    ("emit", "expected"),
    [
        pytest.param(lambda: log.info("a b", pod="x/y"), ("info", 0, "x/y"), id="info"),
        pytest.param(lambda: log.v(3, "a b", pod="x/y"), ("info", 3, "x/y"), id="verbosity"),
        pytest.param(lambda: log.warning("a b", pod="x/y"), ("warning", None, "x/y"), id="warning"),
        pytest.param(lambda: log.problem("a b", pod="x/y"), ("error", None, "x/y"), id="error"),
    ],
)
def test_json_line(emit, expected, caplog):
    found = as_json(emit, caplog)

    assert (found["level"], found.get("v"), found["pod"]) == expected
    assert found["msg"] == "a b"
    assert found["ts"] > 1e12  # milliseconds


def test_json_of_a_fault(caplog):
    def emit():
        try:
            raise ValueError("no luck")
        except ValueError:
            log.error("a b", node="n1")

    found = as_json(emit, caplog)

    assert (found["err"], found["node"]) == ("no luck", "n1")
    assert "ValueError: no luck" in found["stacktrace"]


def test_data_cannot_pretend_to_be_another_line(caplog):
    found = as_json(lambda: log.info("a b", msg="forged", level="error", ts=0), caplog)

    assert (found["msg"], found["level"]) == ("a b", "info")


def test_values_that_json_does_not_have(caplog):
    assert as_json(lambda: log.info("a", what={1}, cause=OSError("x")), caplog)["what"] == "{1}"


def test_lines_of_libraries():
    record = logging.LogRecord("lib", logging.WARNING, "lib.py", 7, "%s went", ("it",), None)

    found = json.loads(JsonFormatter().format(record))

    assert (found["msg"], found["caller"]) == ("it went", "lib:7")


@pytest.mark.parametrize(
    ("emit", "word"),
    [
        pytest.param(lambda: log.info("a b"), "INFO", id="info"),
        pytest.param(lambda: log.v(2, "a b"), "INFO", id="verbosity"),
        pytest.param(lambda: log.v(10, "a b"), "INFO", id="most-verbose"),
        pytest.param(lambda: log.warning("a b"), "WARNING", id="warning"),
        pytest.param(lambda: log.problem("a b"), "ERROR", id="error"),
    ],
)
def test_the_level_of_a_text_line(emit, word, caplog):
    record = record_of(emit, caplog)
    before = record.levelname

    assert TextFormatter().format(record).endswith(f" {word} {__name__} a b")
    assert record.levelname == before


@pytest.mark.parametrize(("stream", "form"), [(Terminal(), TEXT), (io.StringIO(), JSON)])
def test_form_follows_the_stream(stream, form):
    assert suitable_form(stream) == form


@pytest.mark.parametrize(
    ("stream", "form", "is_json"),
    [
        (Terminal(), "", False),
        (io.StringIO(), "", True),
        (Terminal(), JSON, True),
        (io.StringIO(), TEXT, False),
    ],
)
def test_write_logs(stream, form, is_json, monkeypatch):
    monkeypatch.setattr("sys.stderr", stream)
    with fresh_process():
        write_logs(2, form)
        log.v(2, "shown")
        log.v(3, "not shown")

    [line] = stream.getvalue().splitlines()
    assert line.startswith("{") is is_json


def test_verbosity_of_single_modules():
    with fresh_process():
        write_logs(1, TEXT, {"scheduler": 4, "sched*": 2})
        levels = [logging.getLogger(f"podium.{name}").getEffectiveLevel() for name in MODULES]

    assert [logging.INFO - level for level in levels] == list(MODULES.values())


MODULES = {"live.scheduler": 4, "cli.scheduler": 4, "queue.scheduling_queue": 2, "live.binding": 1}


def test_a_line_is_put_into_words_only_when_written():
    class Loud:
        def __repr__(self):
            raise AssertionError("nobody asked")

    get_logger(logs.__name__).v(10, "never shown", what=Loud())
    assert str(Line("a", {"b": 1})) == "a b=1"
