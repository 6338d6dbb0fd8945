"""The command as a user runs it, for tests of commands around an embedded cluster."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from podium.cli import main


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode()


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


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
        out, err = process.communicate(timeout=60)
        return Done(process.returncode, out, err)

    def start(self, *args):
        return subprocess.Popen(
            [sys.executable, "-m", "podium", *args],
            env={**os.environ, **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def out(self, *args, stdin=""):
        """What a command that succeeds prints."""
        done = self.run(*args, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def table(self, *args):
        return [line.split() for line in self.out(*args).splitlines()]
