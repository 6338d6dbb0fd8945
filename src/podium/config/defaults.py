"""Fill in what a file leaves out with upstream's defaults, and return values of the model."""

from dataclasses import fields
from typing import Any, TypeVar

from podium.config import model, wire

DEFAULT_SCHEDULER_NAME = "default-scheduler"
HTTP_TIMEOUT = 5.0

_Section = TypeVar("_Section", model.LeaderElection, model.ClientConnection)


def leader_election(given: wire.LeaderElection) -> model.LeaderElection:
    leader_elect = True if given.leader_elect is None else given.leader_elect
    return _filled(model.LeaderElection(), given, leader_elect=leader_elect)


def client_connection(given: wire.ClientConnection) -> model.ClientConnection:
    return _filled(model.ClientConnection(), given)


def _filled(default: _Section, given: wire.Wire, **chosen: Any) -> _Section:
    """Fill one section in; in these sections a zero or an empty string counts as not given."""
    for field in fields(default):
        value = getattr(given, field.name) or getattr(default, field.name)
        chosen.setdefault(field.name, value)
    return type(default)(**chosen)


def profiles(given: tuple[wire.Profile, ...]) -> tuple[wire.Profile, ...]:
    """Return at least one profile; a single one may leave out its name."""
    if not given:
        return (wire.Profile(scheduler_name=DEFAULT_SCHEDULER_NAME),)
    if len(given) == 1 and given[0].scheduler_name is None:
        only = given[0]
        named = wire.Profile(
            scheduler_name=DEFAULT_SCHEDULER_NAME,
            percentage_of_nodes_to_score=only.percentage_of_nodes_to_score,
            plugins=only.plugins,
            plugin_config=only.plugin_config,
        )
        return (named,)
    return given


def top_level(given: wire.Configuration) -> dict[str, Any]:
    """Return the scalar fields that are given; the model has defaults for the others."""
    profiling = given.enable_profiling is not False
    contention = given.enable_contention_profiling
    optional = {
        "parallelism": given.parallelism,
        "percentage_of_nodes_to_score": given.percentage_of_nodes_to_score,
        "pod_initial_backoff_seconds": given.pod_initial_backoff_seconds,
        "pod_max_backoff_seconds": given.pod_max_backoff_seconds,
    }
    return {
        "enable_profiling": profiling,
        "enable_contention_profiling": profiling if contention is None else contention,
        "delay_cache_until_active": given.delay_cache_until_active,
        **{name: value for name, value in optional.items() if value is not None},
    }


def extender(given: wire.Extender) -> model.Extender:
    named = {field.name: getattr(given, field.name) for field in fields(model.Extender)}
    named["tls"] = _tls(given.tls) if given.tls else None
    named["http_timeout"] = given.http_timeout or HTTP_TIMEOUT
    named["managed_resources"] = tuple(
        model.ManagedResource(resource.name, resource.ignored_by_scheduler)
        for resource in given.managed_resources
    )
    return model.Extender(**named)


def _tls(given: wire.TLSConfig) -> model.TLSConfig:
    return model.TLSConfig(**{f.name: getattr(given, f.name) for f in fields(model.TLSConfig)})
