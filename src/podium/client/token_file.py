"""A bearer token in a file that somebody renews, as kubelets do for service accounts."""

from __future__ import annotations

from pathlib import Path

from podium.clock import Clock
from podium.errors import CredentialsError

REREAD_SECONDS = 60.0


class TokenFile:
    """Reads the file again every minute, and at once when the API refuses the token."""

    def __init__(self, path: Path, clock: Clock, source: str) -> None:
        self._path = path
        self._clock = clock
        self._source = source
        self._token = ""
        self._read_at = float("-inf")

    async def token(self) -> str:
        if self._clock.now() - self._read_at >= REREAD_SECONDS:
            self._read()
        return self._token

    def refuse(self) -> bool:
        before = self._token
        self._read()
        return self._token != before

    def certificate(self) -> None:
        return None

    def _read(self) -> None:
        """While the file is being replaced, the token known so far may still be good."""
        try:
            found = self._path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token:
                return
            message = f"{self._source}: the token file cannot be read: {error}"
            raise CredentialsError(message) from error
        if not found and not self._token:
            raise CredentialsError(f"{self._source}: the token file {self._path} is empty")
        self._token = found or self._token
        self._read_at = self._clock.now()
