"""`podium demo` as a command: it ends by itself in a pipe, and leaves nothing behind."""

import os
import signal
import time
from pathlib import Path

import pytest
import yaml

from tests.support.commands import Shell
from tests.support.terminals import Terminal

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 10


def start(shell):
    return shell.start("demo", start_new_session=True)


def processes_of(session):
    """The processes that the session of this process still has."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


def check_nothing_is_left(shell, session):
    assert not shell.state.exists()
    # Python's own resource tracker ends by itself, a moment after the last process.
    end = time.monotonic() + PATIENCE_SECONDS
    while (left := processes_of(session)) and time.monotonic() < end:
        pass
    assert left == []
    text = shell.kubeconfig.read_text() if shell.kubeconfig.exists() else ""
    assert not (yaml.safe_load(text) or {}).get("contexts")


def test_in_a_pipe_it_tells_the_whole_story_and_ends(tmp_path):
    shell = Shell(tmp_path)
    process = start(shell)
    story, err = process.communicate(timeout=120)

    assert (process.returncode, err) == (0, "")
    titles = ["A cluster fills", " fails ", "Pods move", "One stays pending", "Why?",
              "What would help?", "→ ", "The fix", "It lands", "Try next"]  # fmt: skip
    places = [story.index(title) for title in titles]
    assert places == sorted(places)
    assert "as explain has said" in story
    assert "\x1b" not in story
    commands = story[places[-1] :].splitlines()[1:4]
    assert all(" podium " in f" {Path(line.strip()).name}" for line in commands)
    check_nothing_is_left(shell, process.pid)


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    """At this moment all its processes run. Earlier ones are for the test with a terminal."""
    shell = Shell(tmp_path)
    process = start(shell)
    try:
        process.until("Why?")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: also to its children
        _, err = process.communicate(timeout=60)
    finally:
        process.end()

    assert (process.returncode, err) == (0, "")
    check_nothing_is_left(shell, process.pid)


def test_a_terminal_shows_the_map_and_is_left_as_it_was(tmp_path):
    shell = Shell(tmp_path)
    with Terminal("demo", env=shell.env, columns=60, lines=24) as terminal:
        terminal.until("zone-a", "zone-c", "A cluster fills …", "▁")
        os.killpg(terminal.process.pid, signal.SIGINT)

        assert terminal.end() == 0
        assert b"\x1b[?25h" in terminal.printed.rpartition(b"\x1b[?25l")[2]
        check_nothing_is_left(shell, terminal.process.pid)
