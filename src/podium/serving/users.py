"""Users, as Kubernetes knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """Who sends a request."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def authenticated(self) -> User:
        """Return the user with the group system:authenticated, unless it is anonymous."""
        if {AUTHENTICATED, UNAUTHENTICATED} & set(self.groups):
            return self
        return replace(self, groups=(*self.groups, AUTHENTICATED))


ANONYMOUS: Final = User("system:anonymous", groups=(UNAUTHENTICATED,))
