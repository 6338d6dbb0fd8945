"""Programs that a test starts and ends: their output goes to a file, which errors quote."""

import subprocess
from pathlib import Path

_STOP_SECONDS = 10
_TAIL_LINES = 15


class ProgramFailed(Exception):
    """A program ended, or did not do what it was started for; with its last words."""


class Program:
    """One process; ``with`` or ``stop`` ends it, by its id and nobody else's."""

    def __init__(self, arguments, log):
        self._log = Path(log)
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        self.pid = self._process.pid

    def wait_until(self, is_ready, attempts=600):
        """Ask every tenth of a second; a program that ends before it is ready is an error."""
        for _ in range(attempts):
            if is_ready():
                return
            try:
                self._process.wait(0.1)  # the pause between two questions, cut short by its end
            except subprocess.TimeoutExpired:
                continue
            raise self._failure("ended")
        raise self._failure("is not ready")

    def signal(self, number):
        self._process.send_signal(number)

    def ended(self, seconds=30):
        """Its exit code, once it has ended by itself."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self._failure("does not end") from None

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _failure(self, what):
        tail = self._log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        return ProgramFailed("\n".join([f"{self._process.args[0]} {what}:", *tail]))
