"""Log lines divided between stderr and stdout, and collected before they are written."""

import io
import logging
import threading
from contextlib import contextmanager

import pytest

from podium.log_streams import BufferedLines, Streams
from podium.logs import JSON, TEXT, get_logger, write_logs
from tests.test_logs import fresh_process

log = get_logger(__name__)


@contextmanager
def captured(monkeypatch):
    """Yield stderr and stdout of a fresh process. No fixture: pytest replaces both later."""
    err, out = io.StringIO(), io.StringIO()
    with fresh_process(), monkeypatch.context() as patch:
        patch.setattr("sys.stderr", err)
        patch.setattr("sys.stdout", out)
        yield err, out


def events(stream):
    return [word for word in ("info", "warning", "problem") if f"the-{word}" in stream.getvalue()]


@pytest.mark.parametrize(
    ("form", "is_split", "errors", "rest"),
    [
        pytest.param(TEXT, False, ["info", "warning", "problem"], [], id="all-to-stderr"),
        pytest.param(TEXT, True, ["warning", "problem"], ["info"], id="text"),
        pytest.param(JSON, True, ["problem"], ["info", "warning"], id="json-has-no-warnings"),
    ],
)
def test_split_streams(monkeypatch, form, is_split, errors, rest):
    with captured(monkeypatch) as streams:
        write_logs(0, form, streams={form: Streams(is_split)})
        log.info("the-info")
        log.warning("the-warning")
        log.problem("the-problem")

    assert [events(stream) for stream in streams] == [errors, rest]


def test_the_streams_of_the_other_form_do_not_count(monkeypatch):
    with captured(monkeypatch) as streams:
        write_logs(0, TEXT, streams={JSON: Streams(is_split=True)})
        log.info("the-info")

    assert [events(stream) for stream in streams] == [["info"], []]


def test_lines_are_collected_until_the_next_does_not_fit():
    out = io.StringIO()
    lines = BufferedLines(out, size=8)

    lines.write("one\n")
    lines.write("two\n")
    lines.flush()
    assert out.getvalue() == ""
    lines.write("three\n")
    assert out.getvalue() == "one\ntwo\n"
    lines.write("a longer line\n")
    assert out.getvalue() == "one\ntwo\nthree\na longer line\n"


def test_bytes_are_counted_and_not_characters():
    out = io.StringIO()
    lines = BufferedLines(out, size=8)

    lines.write("äöü\n")
    lines.write("a\n")

    assert out.getvalue() == "äöü\n"


class Watched(io.StringIO):
    """Tells when something is written."""

    def __init__(self):
        super().__init__()
        self.has_text = threading.Event()

    def write(self, text):
        super().write(text)
        if text:
            self.has_text.set()


def test_collected_lines_are_written_regularly():
    out = Watched()
    lines = BufferedLines(out, size=4096)
    lines.write("one\n")
    ticker = threading.Thread(target=lines.write_every, args=(0.001,))
    ticker.start()

    assert out.has_text.wait(60)
    lines.write("two\n")
    lines.close()
    ticker.join()
    assert out.getvalue() == "one\ntwo\n"


def test_info_lines_of_a_split_stream_are_collected(monkeypatch):
    split = Streams(is_split=True, buffer_bytes=4096, flush_seconds=3600)
    with captured(monkeypatch) as (err, out):
        write_logs(0, TEXT, streams={TEXT: split})
        log.info("the-info")
        log.warning("the-warning")
        assert (events(err), events(out)) == (["warning"], [])
        [_, rest] = logging.getLogger().handlers
        rest.stream.close()

        assert events(out) == ["info"]
