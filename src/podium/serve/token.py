"""The bearer token that clients of `podium serve` must send, and the file it is kept in."""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from podium.errors import PodiumError

_BYTES: Final = 32
_LEAST: Final = 16  # the fewest characters of a token
_MOST: Final = 4096
_MOST_FILES: Final = 1000


class Token(NamedTuple):
    """A token, and the file where clients find it."""

    text: str
    path: Path


def read_token(path: Path) -> str:
    """Return the token in a file; raise ``PodiumError`` if it cannot be used as one."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST + 1).decode("ascii").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not ASCII text"
        raise PodiumError(f"{path}: cannot be read as a token: {why}") from error
    if not (_LEAST <= len(text) <= _MOST and text.isprintable() and " " not in text):
        rule = f"one line of at least {_LEAST} characters without blanks"
        raise PodiumError(f"{path}: a token must be {rule}")
    if path.stat().st_mode & 0o077:
        hint = f"allow only yourself: chmod 600 {path}"
        raise PodiumError(f"{path}: other users can read this token; {hint}")
    return text


@contextmanager
def new_token(path: Path) -> Iterator[Token]:
    """Keep a new token in a file that only its owner can read, until the block ends.

    If another running process uses that file, the token is in ``NAME-2.token``, and so on.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, used = _claim_one(path)
    except OSError as error:
        hint = "give a token with --token-file"
        raise PodiumError(f"{path}: cannot be written: {error.strerror}; {hint}") from error
    try:
        token = secrets.token_urlsafe(_BYTES)
        os.write(handle, f"{token}\n".encode())
        yield Token(token, used)
    finally:
        if _is_at(handle, used):
            used.unlink()
        os.close(handle)  # this also unlocks the file


def _claim_one(path: Path) -> tuple[int, Path]:
    """Return a new file that this process has locked."""
    for number in range(1, _MOST_FILES):
        used = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        handle = _claim(used)
        if handle is not None:
            return handle, used
    raise PodiumError(f"{path}: {_MOST_FILES} processes have a token there; end some of them")


def _claim(path: Path) -> int | None:
    """Create and lock a file; return ``None`` if another process has it.

    A file that was left behind is replaced: others may be able to read it, or have it open.
    """
    try:
        with path.open("rb") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except FileNotFoundError:
        pass
    except BlockingIOError:
        return None
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(handle, path):
            return handle
    except BlockingIOError:
        pass
    os.close(handle)  # another process has replaced the file, thinking it was left behind
    return None


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def carries_token(header: str, token: str) -> bool:
    """Return whether an Authorization header has this token, in constant time."""
    kind, _, sent = header.partition(" ")
    is_same = hmac.compare_digest(sent.strip().encode(), token.encode())
    return kind.lower() == "bearer" and is_same
