"""What several older versions write alike, and unlike v1: sections, fields and extenders.

Each translation returns the section as v1 writes it and notes what no longer has an effect.
"""

from typing import Annotated, Protocol

from msgspec import Meta, field

from podium.config import wire
from podium.config.decode import NANOSECONDS
from podium.config.problems import show
from podium.config.version import Notes, same_fields


class Basics(wire.Wire, frozen=True):
    """The top-level fields that every version has had."""

    api_version: str = ""
    kind: str = ""
    client_connection: wire.ClientConnection = wire.ClientConnection()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: wire.Int32 | None = None
    pod_initial_backoff_seconds: wire.Int64 | None = None
    pod_max_backoff_seconds: wire.Int64 | None = None


class OldestPoints(wire.Wire, frozen=True):
    """The extension points that every version has had under the same name."""

    queue_sort: wire.PluginSet = wire.PluginSet()
    pre_filter: wire.PluginSet = wire.PluginSet()
    filter: wire.PluginSet = wire.PluginSet()
    score: wire.PluginSet = wire.PluginSet()
    reserve: wire.PluginSet = wire.PluginSet()
    permit: wire.PluginSet = wire.PluginSet()
    pre_bind: wire.PluginSet = wire.PluginSet()
    bind: wire.PluginSet = wire.PluginSet()
    post_bind: wire.PluginSet = wire.PluginSet()


# healthzBindAddress and metricsBindAddress: plain HTTP ports that are no longer served.


class BindAddresses(Protocol):
    @property
    def healthz_bind_address(self) -> str: ...
    @property
    def metrics_bind_address(self) -> str: ...


_SECURE_PORT = "health and metrics are served over HTTPS on --secure-port"


def warn_of_addresses(given: BindAddresses, notes: Notes) -> None:
    for path, _ in _addresses_in_use(given):
        notes.warnings.add(path, f"has no effect: {_SECURE_PORT}")


def refuse_addresses(given: BindAddresses, notes: Notes) -> None:
    for path, address in _addresses_in_use(given):
        detail = "must be empty or with an explicit 0 port"
        notes.problems.invalid(path, address, f"{detail}; {_SECURE_PORT}")


def _addresses_in_use(given: BindAddresses) -> list[tuple[str, str]]:
    addresses = [
        ("healthzBindAddress", given.healthz_bind_address),
        ("metricsBindAddress", given.metrics_bind_address),
    ]
    return [(path, address) for path, address in addresses if not _is_off(address)]


def _is_off(address: str) -> bool:
    return not address or address.rpartition(":")[::2] == (address[:-2], "0")


# Leader election: locks other than leases, and the names that their fields had in v1alpha1.

_OTHER_LOCKS = ("endpoints", "configmaps", "endpointsleases", "configmapsleases")
_ELECTION = "leaderElection"


class LeaderElection(wire.LeaderElection, frozen=True):
    """Leader election with the field names of v1alpha1 for the lock."""

    lock_object_name: str = ""
    lock_object_namespace: str = ""


def election_in_v1(given: wire.LeaderElection, notes: Notes, **others: str) -> wire.LeaderElection:
    """Translate to an election over a Lease, the only lock that is left."""
    lock = given.resource_lock
    if lock in _OTHER_LOCKS:
        message = f"{show(lock)} locks are no longer supported; a Lease of the same name is used"
        notes.warnings.add(f"{_ELECTION}.resourceLock", message)
        lock = "leases"
    return same_fields(given, wire.LeaderElection, resource_lock=lock, **others)


def renamed_election_in_v1(given: LeaderElection, notes: Notes) -> wire.LeaderElection:
    """Translate an election of v1alpha1, whose ``lockObject*`` fields have new names."""
    return election_in_v1(
        given,
        notes,
        resource_name=_new_or_old(given, "Name", notes),
        resource_namespace=_new_or_old(given, "Namespace", notes),
    )


def _new_or_old(given: LeaderElection, what: str, notes: Notes) -> str:
    new = str(getattr(given, f"resource_{what.lower()}"))
    old = str(getattr(given, f"lock_object_{what.lower()}"))
    path = f"{_ELECTION}.lockObject{what}"
    if new and old and new != old:
        both = f"Resource{what}: {new}, LockObject{what}: {old}"
        message = f"Resource{what} and LockObject{what} are both set and do not match, {both}"
        notes.problems.add(path, message)
    if old:
        notes.warnings.add(path, f"deprecated; use resource{what}")
    return new or old


# Extenders of v1alpha2 and of policies: one field is spelled otherwise, timeouts are nanoseconds.

_PER_SECOND = 1_000_000_000

Nanoseconds = Annotated[int, Meta(extra={"format": NANOSECONDS})]


class LegacyExtender(wire.Wire, frozen=True):
    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: wire.Int64 = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls: wire.TLSConfig | None = field(default=None, name="tlsConfig")
    http_timeout: Nanoseconds = 0
    node_cache_capable: bool = False
    managed_resources: tuple[wire.ManagedResource, ...] = ()
    ignorable: bool = False


def extenders_in_v1(given: tuple[LegacyExtender, ...]) -> tuple[wire.Extender, ...]:
    return tuple(
        same_fields(extender, wire.Extender, http_timeout=extender.http_timeout / _PER_SECOND)
        for extender in given
    )
