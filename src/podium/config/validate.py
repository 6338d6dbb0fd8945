"""Check the values of a configuration as upstream does, with its messages."""

from collections.abc import Iterable

from podium import durations
from podium.api.names import label_key_problems
from podium.api.resources import is_extended
from podium.config.model import ClientConnection, Configuration, Extender, LeaderElection
from podium.config.problems import Problems


def check(configuration: Configuration, problems: Problems) -> None:
    """Check everything except plugins, which are checked while profiles are built."""
    check_client_connection(configuration.client_connection, problems)
    check_leader_election(configuration.leader_election, problems)
    _check_top_level(configuration, problems)
    _check_scheduler_names(configuration, problems)
    check_percentage(
        configuration.percentage_of_nodes_to_score, "percentageOfNodesToScore", problems
    )
    for index, profile in enumerate(configuration.profiles):
        path = f"profiles[{index}].percentageOfNodesToScore"
        check_percentage(profile.percentage_of_nodes_to_score, path, problems)
    check_extenders(configuration.extenders, problems)


def check_client_connection(client: ClientConnection, problems: Problems) -> None:
    if client.burst < 0:
        problems.invalid("clientConnection.burst", client.burst, "must be non-negative")


def check_leader_election(election: LeaderElection, problems: Problems) -> None:
    if not election.leader_elect:
        return
    periods = {
        "leaseDuration": election.lease_duration,
        "renewDeadline": election.renew_deadline,
        "retryPeriod": election.retry_period,
    }
    for name, seconds in periods.items():
        if seconds <= 0:
            _invalid_duration(
                f"leaderElection.{name}", seconds, "must be greater than zero", problems
            )
    if election.lease_duration <= election.renew_deadline:
        # As upstream, the value shown is that of renewDeadline.
        detail = "must be greater than `RenewDeadline`"
        _invalid_duration("leaderElection.leaseDuration", election.renew_deadline, detail, problems)
    names = {
        "resourceLock": election.resource_lock,
        "resourceName": election.resource_name,
        "resourceNamespace": election.resource_namespace,
    }
    for name, text in names.items():
        if not text:
            problems.required(f"leaderElection.{name}")
    if election.resource_lock not in ("leases", ""):
        detail = 'resourceLock value must be "leases"'
        problems.invalid("leaderElection.resourceLock", election.resource_lock, detail)


def _invalid_duration(path: str, seconds: float, detail: str, problems: Problems) -> None:
    problems.add(path, f"Invalid value: {durations.format(seconds)}: {detail}")


def _check_top_level(configuration: Configuration, problems: Problems) -> None:
    if configuration.parallelism <= 0:
        detail = "should be an integer value greater than zero"
        problems.invalid("parallelism", configuration.parallelism, detail)
    initial = configuration.pod_initial_backoff_seconds
    if initial <= 0:
        problems.invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    longest = configuration.pod_max_backoff_seconds
    if longest < initial:
        detail = f"must be greater than or equal to PodInitialBackoffSeconds, which is {initial}"
        problems.invalid("podMaxBackoffSeconds", longest, detail)


def _check_scheduler_names(configuration: Configuration, problems: Problems) -> None:
    first: dict[str, int] = {}
    for index, profile in enumerate(configuration.profiles):
        path = f"profiles[{index}].schedulerName"
        if not profile.scheduler_name:
            problems.required(path)
        elif profile.scheduler_name in first:
            earlier = first[profile.scheduler_name]
            # Upstream really prints the value as {}.
            problems.add(path, f"Duplicate value: {{}}; profiles[{earlier}] has the same name")
        first.setdefault(profile.scheduler_name, index)


def check_percentage(value: int | None, path: str, problems: Problems) -> None:
    if value is not None and not 0 <= value <= 100:
        problems.invalid(path, value, "not in valid range [0-100]")


def check_extenders(extenders: tuple[Extender, ...], problems: Problems) -> None:
    for index, extender in enumerate(extenders):
        _check_extender(extender, f"extenders[{index}]", problems)
    _check_managed_resources(extenders, problems)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        value = f"found {binders} extenders implementing bind"
        problems.invalid("extenders", value, "only one extender can implement bind")


def _check_extender(extender: Extender, path: str, problems: Problems) -> None:
    if extender.prioritize_verb and extender.weight <= 0:
        detail = "must have a positive weight applied to it"
        problems.invalid(f"{path}.weight", extender.weight, detail)
    tls = extender.tls
    if tls and tls.insecure and (tls.ca_file or tls.ca_data):
        detail = "specifying a root certificates file with the insecure flag is not allowed"
        problems.invalid(f"{path}.tlsConfig.insecure", True, detail)


def _check_managed_resources(extenders: tuple[Extender, ...], problems: Problems) -> None:
    seen: set[str] = set()
    for index, extender in enumerate(extenders):
        for position, resource in enumerate(extender.managed_resources):
            path = f"extenders[{index}].managedResources[{position}].name"
            for detail in extended_resource_problems(resource.name):
                problems.invalid(path, resource.name, detail)
            if resource.name in seen:
                problems.invalid(path, resource.name, "duplicate extender managed resource name")
            seen.add(resource.name)


def extended_resource_problems(name: str) -> Iterable[str]:
    """Return why a name is not an extended resource; nothing if it is one."""
    found = label_key_problems(name)
    if found:
        return found
    return () if is_extended(name) else ("is an invalid extended resource name",)
