"""Replays hints, the events that plugins register, and the events that updates result in."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.conformance.cases import HintCase, RegistrationCase, UpdateCase
from podium.conformance.core import (
    Core,
    CoreBuilder,
    check_profile,
    parse,
    resource_kind,
    unknown_kinds,
)
from podium.conformance.outcome import Comparison
from podium.errors import InvalidRecording
from podium.framework.declared_kinds import registered_in
from podium.framework.event_rules import FIRST_TAINTS, EventRules, node_events
from podium.framework.events import (
    ACTIONS,
    ClusterEvent,
    Registration,
    action_names,
)
from podium.framework.plugin import EnqueueExtensions, Plugin
from podium.logs import get_logger

log = get_logger(__name__)

# The tag of a recorded event that the plugin does not register in the release.
NOT_REGISTERED = "not-registered"


def replay_hint(case: HintCase, builder: CoreBuilder, compare: Comparison) -> None:
    kind = resource_kind(case.event.resource)
    unread = unknown_kinds(case.cluster) + ([] if kind else [f"changes of {case.event.resource}"])
    if kind is None or unread:
        for what in unread:
            compare.leave_out(["expect"], f"{what} are not read yet")
        return
    if case.event.action not in ACTIONS:
        raise InvalidRecording(case.source, f"unknown action: {case.event.action}")
    pod = parse(Pod, case.pod)
    core = builder.filled(case.config, case.cluster)
    check_profile(core, pod)
    plugin = _plugin(core, pod.scheduler_name, case.plugin)
    if plugin is None:
        compare.needs(["expect"], [case.plugin])
        return
    old, new = _parse(kind, case.old), _parse(kind, case.new)
    event = ClusterEvent.named(case.event.resource, case.event.action)
    asked = [r for r in _registrations(builder.events, plugin) if r.event.covers(event)]
    answers = [_answer(registration, pod, old, new) for registration in asked]
    if not answers and NOT_REGISTERED in case.tags:
        answers = ["QueueSkip"]  # no hint is asked, and the pod stays where it is
    compare.equal("expect", case.expect, _combined(answers))


def replay_registrations(case: RegistrationCase, builder: CoreBuilder, compare: Comparison) -> None:
    """Compare a plugin's registrations; they are recorded for the default profile only."""
    core = builder.core(None)
    plugin = _plugin(core, next(iter(core.profiles)), case.plugin)
    if plugin is None:
        compare.needs(["events"], [case.plugin])
        return
    ours = [_form(each) for each in _registrations(builder.events, plugin)]
    theirs = [
        _event(e.resource, sorted(e.actions), hint=e.hint, implicit=e.implicit) for e in case.events
    ]
    compare.equal("events", sorted(theirs, key=str), sorted(ours, key=str))


def replay_update(case: UpdateCase, builder: CoreBuilder, compare: Comparison) -> None:
    match case.kind:
        case "Node":
            events = node_events(parse(Node, case.old), parse(Node, case.new))
        case "Pod":
            events = builder.events.pod_events(parse(Pod, case.old), parse(Pod, case.new))
        case _:
            raise InvalidRecording(case.source, f"unknown kind of updated object: {case.kind}")
    names = [name for event in events for name in action_names(event)]
    compare.equal("expect", list(case.expect), names)
    resources = sorted({event.resource for event in events})
    compare.equal("resource", [case.resource] if case.resource else [], resources)


def _plugin(core: Core, profile: str, name: str) -> Plugin | None:
    by_point = core.profiles[profile].plugins.values()
    return next((plugin for plugins in by_point for plugin in plugins if plugin.name == name), None)


def _registrations(rules: EventRules, plugin: Plugin) -> list[Registration]:
    return registered_in(rules, plugin) if isinstance(plugin, EnqueueExtensions) else []


def _parse(kind: type[ApiObject], raw: Raw) -> ApiObject | None:
    return parse(kind, raw) if raw else None


def _answer(
    registration: Registration, pod: Pod, old: ApiObject | None, new: ApiObject | None
) -> str:
    if registration.hint is None:
        return "Queue"
    try:
        return "Queue" if registration.hint(pod, old, new) else "QueueSkip"
    except Exception:
        log.error("queueing hint raised", pod=pod.key, resource=registration.event.resource)
        return "Error"


def _combined(answers: list[str]) -> str | None:
    """Combine answers as the queue does; ``None`` if no hint was asked."""
    return next((a for a in ("Error", "Queue", "QueueSkip") if a in answers), None)


def _form(registration: Registration) -> dict[str, Any]:
    event = registration.event
    has_hint = registration.hint is not None
    implicit = registration is FIRST_TAINTS
    return _event(event.resource, action_names(event), hint=has_hint, implicit=implicit)


def _event(resource: str, actions: list[str], *, hint: bool, implicit: bool) -> dict[str, Any]:
    return {"resource": resource, "actions": actions, "hint": hint, "implicit": implicit}
