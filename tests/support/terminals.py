"""Commands in a terminal: a pseudo-terminal, and pyte draws what a person would see."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

PATIENCE_SECONDS = 60


class Terminal:
    """``with Terminal("top", env=…) as terminal:`` runs podium in a terminal of its own."""

    def __init__(self, *args, env=None, columns=100, lines=30):
        self.fd, other = pty.openpty()
        self._resize(columns, lines)
        self.before = termios.tcgetattr(self.fd)
        self.printed = b""
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        names = {**os.environ, "TERM": "xterm-256color", **(env or {})}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            names.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "podium", *args],
            stdin=other,
            stdout=other,
            stderr=other,
            env=names,
            start_new_session=True,
        )
        os.close(other)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=10)
        os.close(self.fd)

    @property
    def shown(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.shown)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def interrupt(self, number=signal.SIGINT):
        self.process.send_signal(number)

    def resize(self, columns, lines):
        self._resize(columns, lines)
        self.screen.resize(lines, columns)
        self.process.send_signal(signal.SIGWINCH)

    def _resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def until(self, *wanted, without=()):
        """Read until the screen shows all of these texts; return it."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if all(each in self.text for each in wanted) and not any(
                each in self.text for each in without
            ):
                return self.text
            if not self._read(0.2) and self.process.poll() is not None:
                break
        raise AssertionError(f"not shown: {wanted}, but\n{self.text}")

    def end(self):
        """Read until the command has ended; return its exit status."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.wait(timeout=1)

    def until_stopped(self):
        """Read until the command has stopped itself, as Ctrl-Z makes it do."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            found, status = os.waitpid(self.process.pid, os.WUNTRACED | os.WNOHANG)
            if found:
                assert os.WIFSTOPPED(status), f"it has ended:\n{self.text}"
                return
            self._read(0.05)
        raise AssertionError(f"it has not stopped:\n{self.text}")

    def _read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:  # the last one who had the terminal open is gone
            return False
        self.printed += piece
        self._stream.feed(piece)
        return bool(piece)
