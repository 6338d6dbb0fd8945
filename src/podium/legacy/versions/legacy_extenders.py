"""Extenders as v1alpha2 and policies write them: other names, and timeouts in nanoseconds."""

from typing import Annotated

from msgspec import Meta, field

from podium.config import wire
from podium.config.decode import NANOSECONDS
from podium.config.version import same_fields

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


def in_words_of_v1(given: tuple[LegacyExtender, ...]) -> tuple[wire.Extender, ...]:
    return tuple(
        same_fields(extender, wire.Extender, http_timeout=extender.http_timeout / _PER_SECOND)
        for extender in given
    )
