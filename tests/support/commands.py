"""The command as a user runs it, for tests of commands around an embedded cluster."""

import io
import os
import subprocess
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from podium.cli import main

PATIENCE_SECONDS = 60
LONGEST_SECONDS = 150  # for a process; less than the time limit of a test


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode()


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Started(subprocess.Popen):
    """``podium`` in a process that is killed when it runs for too long.

    So whatever a test waits for ends: a line that is never printed, or the end of the process.
    """

    def __init__(self, args, env, **options):
        super().__init__(
            [sys.executable, "-m", "podium", *args],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self._limit = threading.Timer(LONGEST_SECONDS, self.kill)
        self._limit.daemon = True
        self._limit.start()

    def wait(self, timeout=None):
        status = super().wait(timeout)
        self._limit.cancel()
        return status

    def line(self):
        """Return the next line that it prints."""
        found = self.stdout.readline()
        assert found, f"{self.args[3:]} printed no further line within {LONGEST_SECONDS} s"
        return found

    def until(self, start):
        """Read up to the next line that starts like this; return it."""
        while not (found := self.line()).startswith(start):
            pass
        return found

    def end(self):
        """End the process, if it has not ended. A child that keeps its output is not waited for."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self.communicate(timeout=10)


class Shell:
    """Runs ``podium`` with files of its own: in this process, or with ``process`` in another."""

    def __init__(self, home: Path) -> None:
        self.kubeconfig = home / "config"
        self.state = home / "state" / "podium" / "cluster.json"
        self.env = {
            "KUBECONFIG": str(self.kubeconfig),
            "XDG_STATE_HOME": str(home / "state"),
            "http_proxy": "http://127.0.0.1:9",  # loopback must not go through a proxy
        }

    def run(self, *args, stdin=""):
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.env),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(_bytes(stdin)))),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                status = main(args)
            except SystemExit as ended:
                status = ended.code
        return Done(status, out.getvalue(), err.getvalue())

    def process(self, *args):
        process = self.start(*args)
        try:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.end()
        return Done(process.returncode, out, err)

    def start(self, *args, **options):
        return Started(args, {**os.environ, **self.env}, **options)

    def out(self, *args, stdin=""):
        """What a command that succeeds prints."""
        done = self.run(*args, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def table(self, *args):
        return [line.split() for line in self.out(*args).splitlines()]
