"""Writes deploy/base/cluster-role.yaml: the rights that podium uses, and no others.

The kinds to list and watch are those that the default plugins declare, in any supported release.
All other rights are recorded from `ApiClient`: each of its methods is called once, without a
server. `make rbac` runs this after a plugin has declared another kind or the client sends another
request.

    python tools/rbac.py            write the file
    python tools/rbac.py --print    print it
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from podium import app
from podium.api.meta import ApiObject, ObjectMeta
from podium.api.objects import (
    Condition,
    Lease,
    LeaseCandidate,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodExtendedResourceClaimStatus,
    PodGroup,
    PodStatus,
    ResourceClaim,
)
from podium.app.plugin_reloading import rules_of, watched
from podium.client.api_client import ApiClient
from podium.client.event_series import Event, EventMeta, Regarding
from podium.client.resources import (
    COMPOSITE_POD_GROUPS,
    NODES,
    POD_GROUPS,
    PODS,
    resource_of,
)
from podium.clock import StillClock
from podium.config.feature_gates import FeatureGates
from podium.config.load import read_default
from podium.framework.event_rules import event_rules
from podium.live.watching import IN_STATE
from podium.release import RELEASES, Release

FILE: Final = Path(__file__).resolve().parent.parent / "deploy" / "base" / "cluster-role.yaml"

VERBS: Final = {
    "POST": "create", "GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"
}  # fmt: skip
# The methods of ApiClient that are used in the namespace of the lease alone, under a Role.
OF_ELECTIONS: Final = {
    "get_lease", "create_lease", "update_lease", "create_core_event",
    "create_candidate", "update_candidate",
}  # fmt: skip
# A method for kinds of scheduler-plugins: deploy/components/scheduler-plugins grants these rights.
OF_CUSTOM_KINDS: Final = {"patch_status"}
# The kinds that plugins read one by one, after a conflict or a write that got no answer.
READ: Final[tuple[type[ApiObject], ...]] = (
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,  # after a binding without an answer
    ResourceClaim,
)
# Rights that the API server asks for besides those for the request itself.
IMPLIED: Final = {
    # To write status.allocation and status.reservedFor, from 1.36 on.
    ("resource.k8s.io", "resourceclaims/binding", "patch"),
}

HEAD: Final = """\
# The rights of podium with its default plugins. `make rbac` writes this file from the code.
# Plugins that declare further kinds need list and watch on those as well.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: podium
rules:
"""


class Right(NamedTuple):
    """Permission for one verb on one resource; ``resource`` includes a subresource."""

    group: str
    resource: str
    verb: str


def cluster_rights() -> set[Right]:
    """Return what podium does in all namespaces, with the default plugins of any release."""
    read = {right for release in RELEASES for right in _watched_in(release)}
    sent = asyncio.run(sent_by(set(_methods()) - OF_ELECTIONS - OF_CUSTOM_KINDS))
    return read | sent | {Right(*each) for each in IMPLIED}


def _watched_in(release: Release) -> Iterator[Right]:
    gates = FeatureGates(release)
    registry = app.in_tree_with_legacy(gates)
    configuration = read_default(registry, gates=gates).configuration
    core = app.build(configuration, registry=registry)
    rules = rules_of(core.profiles, core.services, event_rules(release))
    names = [*watched(core.profiles, rules), *core.services.listed]
    kinds = [resource_of(IN_STATE[name]) for name in names if name in IN_STATE]
    of_groups = (POD_GROUPS, COMPOSITE_POD_GROUPS)  # with their feature gates only
    for resource in (NODES, PODS, *of_groups, *kinds):
        for verb in ("list", "watch"):
            yield Right(resource.group, resource.plural, verb)


async def sent_by(methods: Iterable[str]) -> set[Right]:
    """Return the rights for the requests that these methods of the client send."""
    recorder = _Recorder()
    client = ApiClient(typing.cast(Any, recorder))
    for name in sorted(methods):
        for arguments in _arguments(name):
            try:
                await getattr(client, name)(*arguments)
            except _Recorded:
                continue
            raise AssertionError(f"{name} sends nothing")
    return recorder.rights


class _Recorded(Exception):
    """Ends a call: its request is known."""


class _Recorder:
    """Takes the place of a Connection."""

    def __init__(self) -> None:
        self.clock = StillClock()
        self.rights: set[Right] = set()

    async def send(self, request: Any) -> bytes:
        self.rights.add(right_of(request.method, request.path))
        raise _Recorded

    async def get(self, path: str) -> bytes:
        self.rights.add(right_of("GET", path))
        raise _Recorded

    async def send_together(self, requests: Sequence[Any]) -> None:
        for request in requests:
            await self.send(request)


def right_of(method: str, path: str) -> Right:
    """Return the right that a request for one object or collection needs."""
    _, root, *rest = path.split("/")
    group = rest.pop(0) if root == "apis" else ""
    rest.pop(0)  # the version
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    resource = "/".join((rest[0], *rest[2:]))
    return Right(group, resource, VERBS[method])


def _methods() -> Iterator[str]:
    for name, _ in inspect.getmembers(ApiClient, inspect.iscoroutinefunction):
        if not name.startswith("_"):
            yield name


def _arguments(name: str) -> Iterator[list[object]]:
    """Yield arguments that make the method send its request."""
    if name == "read":
        yield from ([kind, "ns/name"] for kind in READ)
        return
    signature = inspect.signature(getattr(ApiClient, name))
    hints = typing.get_type_hints(getattr(ApiClient, name))
    yield [_sample(hints[each]) for each in signature.parameters if each != "self"]


def _sample(hint: Any) -> object:
    names = ObjectMeta(name="name", namespace="ns", uid="uid")
    if hint is Pod:  # with a nomination, so that there is one to clear
        return Pod(metadata=names, status=PodStatus(nominated_node_name="node"))
    kinds = (PersistentVolume, PersistentVolumeClaim, PodGroup, ResourceClaim, Lease)
    for kind in (*kinds, LeaseCandidate):
        if hint is kind:
            return kind(metadata=names)
    event = Event(metadata=EventMeta("name", "ns"), event_time="", reporting_controller="",
                  reporting_instance="", action="", reason="",
                  regarding=Regarding("name", "ns", "1", "uid"), note="", type="")  # fmt: skip
    samples: Mapping[Any, object] = {
        str: "name",
        str | None: "name",
        Event: event,
        Sequence[tuple[str, Event]]: [("ns", event)],
        Condition: Condition(type="Ready", status="True"),
        Condition | None: None,
        ObjectReference: ObjectReference(),
        PodExtendedResourceClaimStatus: PodExtendedResourceClaimStatus(),
    }
    if hint in samples:
        return samples[hint]
    return [] if typing.get_origin(hint) is Sequence else {}


def manifest(rights: Iterable[Right]) -> str:
    """Return the ClusterRole: one rule for the resources of a group that have the same verbs."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for group, resource, verb in rights:
        verbs.setdefault((group, resource), set()).add(verb)
    rules: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), allowed in sorted(verbs.items()):
        rules.setdefault((group, tuple(sorted(allowed))), []).append(resource)
    return HEAD + "".join(_rule(*rule, resources) for rule, resources in rules.items())


def _rule(group: str, verbs: Sequence[str], resources: Sequence[str]) -> str:
    lines = [f'  - apiGroups: ["{group}"]', "    resources:"]
    lines += [f"      - {resource}" for resource in resources]
    return "\n".join([*lines, f"    verbs: [{', '.join(verbs)}]", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the ClusterRole of podium.")
    parser.add_argument("--print", action="store_true", help="print it and write nothing")
    text = manifest(cluster_rights())
    if parser.parse_args().print:
        print(text, end="")
    else:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
