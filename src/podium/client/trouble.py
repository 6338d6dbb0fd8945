"""What keeps informers from their work: logged once when it begins, and not with every try."""

from __future__ import annotations

from typing import Any, Final

from podium.client.resources import Resource
from podium.errors import Forbidden, NotFound, PodiumError, Unauthorized
from podium.logs import get_logger

log = get_logger(__name__)

RETRIES_SELDOM: Final = "retrying in 5 to 10 minutes"
RETRIES_OFTEN: Final = "retrying"


class Troubles:
    """The errors of all kinds that are watched over one connection.

    An error that many watches have in common, such as a server that is down, is logged by the first
    one that has it, and its end by the last. One kind may be watched more than once.
    """

    def __init__(self) -> None:
        self._watches_by_message: dict[str, set[Trouble]] = {}

    def begin(self, watch: Trouble, error: PodiumError) -> bool:
        """Note that the watch has this error; return whether it is the first."""
        watches = self._watches_by_message.setdefault(str(error), set())
        watches.add(watch)
        return len(watches) == 1

    def end(self, watch: Trouble, error: PodiumError) -> bool:
        """Note that the watch has this error no longer; return whether it was the last."""
        watches = self._watches_by_message[str(error)]
        watches.remove(watch)
        if not watches:
            del self._watches_by_message[str(error)]
        return not watches


class Trouble:
    """What keeps one watch of a kind from working; ``error`` is None while all is well."""

    def __init__(self, resource: Resource[Any], shared: Troubles) -> None:
        self._resource = resource
        self._shared = shared
        self.error: PodiumError | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether only a person can end it, and podium works without the kind until then."""
        return not self._resource.needed and isinstance(self.error, Forbidden | NotFound)

    def begin(self, error: PodiumError, verb: str) -> None:
        """Log the error, unless the kind had one of this class before or another kind has it."""
        before, self.error = self.error, error
        if before is not None:
            self._shared.end(self, before)
        is_first = self._shared.begin(self, error)
        failure = f"cannot {verb} {self._resource.name}: {self._reason(error)}"
        if type(before) is type(error) or not is_first:
            log.debug(f"still {failure}")
        elif self.is_lasting:
            without = f"continuing without {self._resource.without}"
            log.warning(f"{failure}; {without}; {RETRIES_SELDOM}", **_details(error))
        elif isinstance(error, Forbidden | Unauthorized):
            log.problem(f"{failure}; {RETRIES_OFTEN}", **_details(error))
        else:
            log.warning(f"{failure}; {RETRIES_OFTEN}")

    def _reason(self, error: PodiumError) -> str:
        """Say what is wrong: in our own words where those of the server say less."""
        name = self._resource.name
        match error:
            case Forbidden():
                return f"forbidden (grant list and watch on {name})"
            case NotFound():
                return "the server does not have this kind"
        return str(error)

    def end(self) -> None:
        if self.error is not None:
            if self._shared.end(self, self.error):
                log.info(f"watching {self._resource.name} again")
            self.error = None


def _details(error: PodiumError) -> dict[str, str]:
    """The server's own words where they name the user that lacks a right."""
    return {"server": str(error)} if isinstance(error, Forbidden) else {}
