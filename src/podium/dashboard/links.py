"""Links that sign a browser in, once: made from a key that only this user can read.

A link carries a token: when it was made, a random part, and a signature of both. So whoever has the
key can make one without asking the server, and the server remembers only those that were used.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

ROOT: Final = "/dashboard/"
VALID_SECONDS: Final = 24 * 3600
_SKEW_SECONDS: Final = 60


def new_key() -> str:
    return secrets.token_urlsafe(32)


def link(address: str, key: str, now: float) -> str:
    """Return a link to the dashboard of the server at this address."""
    return f"{address}{ROOT}?token={quote(new_token(key, now))}"


def new_token(key: str, now: float) -> str:
    content = f"{int(now)}.{secrets.token_urlsafe(16)}"
    return f"{content}.{_signature(key, content)}"


def _signature(key: str, content: str) -> str:
    return hmac.new(key.encode(), content.encode(errors="replace"), hashlib.sha256).hexdigest()


class Tokens:
    """Accepts each token of a key once, for a day after it was made."""

    def __init__(
        self, key: str, now: Callable[[], float], on_use: Callable[[], None] = lambda: None
    ) -> None:
        self._key = key
        self._now = now
        self._on_use = on_use  # called after a token was accepted
        self._used: dict[str, int] = {}  # when it was made, by token

    def redeem(self, token: str) -> bool:
        """Return whether the token is valid; from now on it is not."""
        content, _, signature = token.rpartition(".")
        made, _, _ = content.partition(".")
        is_signed = hmac.compare_digest(
            signature.encode(errors="replace"), _signature(self._key, content).encode()
        )
        if not is_signed or not made.isdecimal() or token in self._used:
            return False
        now = self._now()
        if not -_SKEW_SECONDS <= now - int(made) <= VALID_SECONDS:
            return False
        self._used = {t: at for t, at in self._used.items() if now - at <= VALID_SECONDS}
        self._used[token] = int(made)
        self._on_use()
        return True

    def is_key(self, text: str) -> bool:
        """Return whether this is the key itself, which programs of the same user send."""
        return hmac.compare_digest(text.encode(errors="replace"), self._key.encode())
