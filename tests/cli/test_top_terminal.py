"""`podium top` in a terminal and in a pipe, beside a running cluster."""

import json
import signal
import termios
import time

import pytest

from tests.support.commands import Shell
from tests.support.dumps import manifest
from tests.support.terminals import PATIENCE_SECONDS, Terminal

pytestmark = pytest.mark.slow

LEFT = b"\x1b[?25h\x1b[?1049l"  # the cursor is shown, and the other screen is left


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("top"))
    assert made.process("up", "--detach", "--nodes", "4").returncode == 0
    pods = [manifest("web", "2"), manifest("giant", "64")]
    made.out("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, pods)))
    yield made
    made.run("down")


def settled(shell):
    """Wait until the scheduler has tried both pods."""
    end = time.monotonic() + PATIENCE_SECONDS
    while "giant" not in (printed := shell.out("top")):
        assert time.monotonic() < end, f"the scheduler has not tried both pods:\n{printed}"
    return printed


def test_in_a_pipe_it_is_one_table(shell):
    lines = settled(shell).splitlines()

    assert "pending  InsufficientResource      1" in "\n".join(lines)
    assert all(line == line.rstrip() and "\x1b" not in line for line in lines)
    assert {line.split()[0] for line in lines[1:]} == {
        "cluster",
        "rate",
        "queue",
        "pending",
        "node",
    }


def test_json_is_what_the_dashboard_shows(shell):
    settled(shell)
    found = json.loads(shell.out("top", "-o", "json"))

    assert found["overview"]["nodes"] == len(found["map"]["names"]) == 4
    assert found["pending"]["groups"][0]["pods"][0]["pod"] == "default/giant"


def test_keys_lead_to_explanations_and_q_leaves_the_terminal_as_it_was(shell):
    settled(shell)
    with Terminal("top", env=shell.env) as terminal:
        terminal.until("InsufficientResource", "Fullest nodes", "node-0")
        terminal.press("\r\x1b[B\r")
        terminal.until("default/giant fits on none of 4 nodes", "Nearest misses")
        terminal.resize(50, 12)
        terminal.until("default/giant fits on none of 4 nodes")
        terminal.press("\x1b")
        terminal.until("Fullest nodes")
        terminal.press("q")

        assert terminal.end() == 0
        assert terminal.printed.endswith(LEFT)
        assert termios.tcgetattr(terminal.fd) == terminal.before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_a_signal_leaves_the_terminal_as_it_was(shell, number):
    with Terminal("top", env=shell.env) as terminal:
        terminal.until("Fullest nodes")
        terminal.interrupt(number)

        assert terminal.end() == 0
        assert terminal.printed.endswith(LEFT)
        assert termios.tcgetattr(terminal.fd) == terminal.before


def test_stopped_by_the_shell_it_gives_the_terminal_back_and_takes_it_again(shell):
    with Terminal("top", env=shell.env) as terminal:
        terminal.until("Fullest nodes")
        terminal.interrupt(signal.SIGTSTP)
        terminal.until_stopped()
        assert termios.tcgetattr(terminal.fd) == terminal.before
        terminal.interrupt(signal.SIGCONT)
        terminal.press("?")
        terminal.until("these keys")
        terminal.press("qq")

        assert terminal.end() == 0


def test_it_follows_a_scheduler_that_restarts(tmp_path):
    shell = Shell(tmp_path)
    assert shell.process("up", "--detach", "--nodes", "2").returncode == 0
    try:
        with Terminal("top", env=shell.env) as terminal:
            terminal.until("2 nodes")
            shell.out("down")
            terminal.until("trying again")
            assert shell.process("up", "--detach", "--nodes", "3").returncode == 0
            terminal.until("3 nodes", without=["trying again"])
    finally:
        shell.run("down")


def test_without_a_cluster_it_says_how_to_start_one(tmp_path):
    done = Shell(tmp_path).run("top")

    assert (done.returncode, done.stdout) == (1, "")
    assert "podium up" in done.stderr
