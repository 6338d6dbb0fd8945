"""The files that users name: reading them has limits, and they are replaced only by whole ones.

Errors do not repeat the name of the file: whoever reads or writes says it.
"""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Final

from podium.errors import PodiumError

MAX_BYTES: Final = 4 << 30  # limit for a file after decompression
MAX_LINE: Final = 64 << 20
_SMALL_BYTES: Final = 16 << 20
_GZIP: Final = b"\x1f\x8b"
_BUFFER: Final = 1 << 20


def read(path: Path, most: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file, decompressed if gzip has compressed it."""
    with opened(path) as file:
        return rest_of(file, b"", most)


def rest_of(file: BufferedReader, first: bytes, most: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file of which ``first`` is what was read so far."""
    if first and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.seek(0)  # so that a large file is not copied
        first = b""
    data = first + file.read(most + 1 - len(first))
    if len(data) > most:
        raise _too_large(most)
    return data


def read_lines(path: Path, longest: int = MAX_LINE) -> Iterator[bytes]:
    """Yield the lines of a file, decompressed if gzip has compressed it."""
    with opened(path) as file:
        yield from lines_of(file, longest, None)


def lines_of(
    file: BufferedReader, longest: int = MAX_LINE, most: int | None = MAX_BYTES
) -> Iterator[bytes]:
    """Yield the lines that were not read yet, which must have ``most`` bytes together."""
    total = 0
    while line := file.readline(longest + 1):
        total += len(line)
        if len(line) > longest:
            raise PodiumError(f"cannot be read: a line longer than {longest >> 20:,} MiB")
        if most is not None and total > most:
            raise _too_large(most)
        yield line


def _too_large(most: int) -> PodiumError:
    return PodiumError(f"cannot be read: larger than {most >> 20:,} MiB")


def read_small(path: str | Path) -> bytes:
    """Return the bytes of a regular file such as a certificate or a token.

    Raise ``OSError`` for anything else: nobody may ever write to a pipe, a device may never end.
    """
    without_waiting = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, without_waiting), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        data = file.read(_SMALL_BYTES + 1)
    if len(data) > _SMALL_BYTES:
        raise OSError(errno.EFBIG, f"Larger than {_SMALL_BYTES >> 20} MiB", str(path))
    return data


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading, decompressed if gzip has compressed it.

    What cannot be read becomes a ``PodiumError``, also within the block.
    """
    with readable_errors(), inflated(path) as file:
        yield file


@contextmanager
def inflated(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading, decompressed if gzip has compressed it.

    Errors are those of Python's files and gzip; ``opened`` turns them into a ``PodiumError``.
    """
    with path.open("rb") as raw:
        _check_ends(raw)
        is_compressed = raw.peek(2).startswith(_GZIP)
        # Lines are read from a large buffer in a third of the time that GzipFile takes.
        yield BufferedReader(gzip.GzipFile(fileobj=raw), _BUFFER) if is_compressed else raw


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn errors of reading a file into a ``PodiumError`` that says what to do."""
    try:
        yield
    except EOFError as error:
        raise PodiumError("cut short: save or copy it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise PodiumError(f"damaged: {error}; save or copy it again") from error
    except (OSError, ValueError) as error:
        raise PodiumError(f"cannot be read: {_reason(error)}") from error


def _check_ends(file: BufferedReader) -> None:
    """Refuse devices, which may never end; a pipe is read like a file."""
    mode = os.fstat(file.fileno()).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise PodiumError("cannot be read: not a file or a pipe")


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces the one at ``path`` when the block ends well.

    A link stays and its target is replaced. What is there and is no regular file is refused: a
    device such as ``/dev/null`` would be gone for everyone.
    """
    target = _target(path)
    part = target.with_name(f".podium-{secrets.token_hex(8)}.part")
    try:
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                yield file
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(error) from error


def _target(path: Path) -> Path:
    try:
        is_replaceable = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        is_replaceable = True
    except (OSError, ValueError) as error:
        raise _unwritable(error) from error
    if not is_replaceable:
        raise PodiumError("cannot be written: not a regular file; give the name of a file")
    return path.resolve()


def _unwritable(error: OSError | ValueError) -> PodiumError:
    return PodiumError(f"cannot be written: {_reason(error)}")


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
