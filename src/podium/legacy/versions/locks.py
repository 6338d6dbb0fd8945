"""Leader election as older versions wrote it: other locks than leases, and their old names."""

from podium.config import wire
from podium.config.problems import show
from podium.config.version import Notes, same_fields

LEASES = "leases"
_OTHER_LOCKS = ("endpoints", "configmaps", "endpointsleases", "configmapsleases")
_PATH = "leaderElection"


class LeaderElection(wire.LeaderElection, frozen=True):
    """With the names that the lock had in v1alpha1."""

    lock_object_name: str = ""
    lock_object_namespace: str = ""


def leases(given: wire.LeaderElection, notes: Notes, **others: str) -> wire.LeaderElection:
    """The same election over a Lease, the only lock that is left."""
    lock = given.resource_lock
    if lock in _OTHER_LOCKS:
        message = f"{show(lock)} locks are gone; a Lease of the same name is used"
        notes.warnings.add(f"{_PATH}.resourceLock", message)
        lock = LEASES
    return same_fields(given, wire.LeaderElection, resource_lock=lock, **others)


def renamed_leases(given: LeaderElection, notes: Notes) -> wire.LeaderElection:
    """The same, with ``lockObject*`` under the names that they have now."""
    return leases(
        given,
        notes,
        resource_name=_either(given, "Name", notes),
        resource_namespace=_either(given, "Namespace", notes),
    )


def _either(given: LeaderElection, what: str, notes: Notes) -> str:
    new = str(getattr(given, f"resource_{what.lower()}"))
    old = str(getattr(given, f"lock_object_{what.lower()}"))
    if new and old and new != old:
        both = f"Resource{what}: {new}, LockObject{what}: {old}"
        message = f"Resource{what} and LockObject{what} are both set and do not match, {both}"
        notes.problems.add(f"{_PATH}.lockObject{what}", message)
    if old:
        message = f"deprecated; resource{what} is its name now"
        notes.warnings.add(f"{_PATH}.lockObject{what}", message)
    return new or old
