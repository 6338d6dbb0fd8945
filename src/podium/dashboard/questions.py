"""What the dashboard asks about a replica. Each function returns what a command prints as JSON.

They run in a process of their own, one at a time, and change only forks of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec
import yaml
from msgspec import Meta

from podium import config
from podium.config import Configuration
from podium.config.explicit import explicit
from podium.dashboard.replica import Replica, Unanswerable
from podium.explain import Explanation, NodeExplanation
from podium.legacy import VERSIONS
from podium.serve import operations
from podium.serve.values import Manifest, Name, Names, Replicas
from podium.simulation.building import gates_of, read_configuration, registry_of
from podium.simulation.compare import Comparison, Variant, compare
from podium.simulation.formats import comparison_fields, report_fields
from podium.simulation.scenario import Add, AddNodes, DrainNodes, RemoveNodes, Step, run

Json = dict[str, Any]

MOST_RESCHEDULED: Final = 20_000  # pods; with more, the answer takes too long


class WeightChange(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """A score plugin of a profile, and the weight that it is to have; 0 does not ask it at all."""

    profile: Name
    plugin: Name
    weight: Annotated[int, Meta(ge=0, le=1000)]


class WhatIf(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What to try: changes of the cluster, of weights, or a configuration; one of these at once."""

    add: Annotated[list[Manifest], Meta(max_length=100)] = []
    replicas: Replicas = 1
    add_nodes_like: str = ""
    add_nodes: Annotated[int, Meta(ge=1, le=1000)] = 1
    drain: Names = []
    remove_nodes: Names = []
    weights: Annotated[list[WeightChange], Meta(max_length=100)] = []
    configuration: Annotated[str, Meta(max_length=500_000)] = ""  # YAML or JSON
    manifest: Annotated[str, Meta(max_length=500_000)] = ""  # YAML or JSON of any objects


def explain_pod(replica: Replica, key: str, nodes: tuple[str, ...]) -> Explanation:
    return operations.explain_existing(replica.simulation(), key, nodes)


def explain_node(replica: Replica, name: str) -> NodeExplanation:
    return operations.explain_one_node(replica.simulation(), name)


def what_if(replica: Replica, body: bytes) -> Json:
    """Return a report as ``podium simulate`` prints it, or a comparison of two configurations."""
    asked = msgspec.json.decode(body, type=WhatIf)
    steps = list(_steps(asked))
    configuration = asked.configuration.strip()
    if sum(map(bool, (steps, asked.weights, configuration))) > 1:
        parts = "the cluster, the weights or the configuration"
        raise Unanswerable(f"change either {parts}, not both at once")
    if asked.weights:
        return comparison_fields(compare_with(replica, reweighted(replica, asked.weights)))
    if configuration:
        return comparison_fields(compare_with(replica, pasted(replica, configuration)))
    if not steps:
        hint = "add pods or nodes, drain a node, change a weight or the configuration"
        raise Unanswerable(f"nothing to try: {hint}")
    simulation = replica.simulation()
    operations.check_nodes(simulation, [*asked.drain, *asked.remove_nodes])
    trial = simulation.fork()
    trial.notes = simulation.notes
    return report_fields(run(trial, steps))


def _steps(asked: WhatIf) -> list[Step]:
    steps: list[Step] = []
    if asked.add_nodes_like:
        steps.append(AddNodes(asked.add_nodes_like, asked.add_nodes))
    steps += [RemoveNodes(name) for name in asked.remove_nodes]
    if asked.drain:
        steps.append(DrainNodes(tuple(asked.drain)))
    if asked.add:
        pods = [operations.pod_manifest(each) for each in asked.add]
        steps.append(Add(pods, asked.replicas, "pods"))
    if asked.manifest:
        steps.append(Add(_objects(asked.manifest), None, "a manifest"))
    return steps


def _objects(text: str) -> list[Json]:
    """Return the objects of a manifest, also those inside a List."""
    try:
        documents = [each for each in yaml.safe_load_all(text) if each is not None]
    except yaml.YAMLError as error:
        raise Unanswerable(f"the manifest cannot be read: {error}") from error
    found: list[Json] = []
    for document in documents:
        if not isinstance(document, dict):
            raise Unanswerable("the manifest must have objects with apiVersion and kind")
        found += document.get("items") or [] if document.get("kind") == "List" else [document]
    return found


def compare_with(replica: Replica, configuration: Configuration) -> Comparison:
    """Schedule all pods anew, with the present configuration and with another one."""
    taken, decider = replica.snapshot(), replica.decider
    pods = len(taken.of_kind("Pod"))
    if pods > MOST_RESCHEDULED:
        hint = "use podium simulate compare"
        raise Unanswerable(f"{pods} pods take too long to be scheduled anew here; {hint}")
    plugins = tuple(replica.plugins())
    present = Variant("now", decider.configuration, replica.release, plugins)
    # Simulations refuse extenders; nothing that somebody pastes must be able to send requests.
    tried = Variant("tried", replace(configuration, extenders=()), replica.release, plugins)
    found = compare(taken, (present, tried), only_pending=False)
    notes = replica.notes(each.url_prefix for each in configuration.extenders)
    return replace(found, notes=(*found.notes, *notes))


def pasted(replica: Replica, text: str) -> Configuration:
    """Return the configuration that somebody has pasted; raise ``ConfigError`` if it is wrong."""
    gates = gates_of(replica.release)
    registry = registry_of(gates, replica.plugins())
    return config.load(text, registry, source="the configuration", versions=VERSIONS, gates=gates)


def reweighted(replica: Replica, changes: list[WeightChange]) -> Configuration:
    """Return the present configuration with these weights."""
    gates = gates_of(replica.release)
    registry = registry_of(gates, replica.plugins())
    content = explicit(read_configuration(replica.decider.configuration, registry, gates))
    profiles = {each["schedulerName"]: each for each in content["profiles"]}
    for change in changes:
        if change.profile not in profiles:
            raise Unanswerable(f"no profile {change.profile}; there are: {', '.join(profiles)}")
        score = profiles[change.profile]["plugins"]["score"]
        score["enabled"] = _with_weight(score["enabled"], change)
    return read_configuration(content, registry, gates)


def _with_weight(enabled: list[Json], change: WeightChange) -> list[Json]:
    names = [each["name"] for each in enabled]
    if change.plugin not in names:
        raise Unanswerable(f"{change.plugin} does not score in {change.profile}")
    changed = [
        {**each, "weight": change.weight} if each["name"] == change.plugin else each
        for each in enabled
    ]
    return [each for each in changed if each["name"] != change.plugin or change.weight]


ANSWERS: Final[Mapping[str, Callable[..., object]]] = {
    "pod": explain_pod,
    "node": explain_node,
    "what-if": what_if,
}
