"""``podium up --from``: what a cluster takes over from a snapshot."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from podium import config, snapshot
from podium.api.times import NANOSECONDS, parse_time
from podium.apiserver.restoring import RestoredState
from podium.cli.messages import print_error
from podium.cli.snapshot_text import warn
from podium.config import Configuration
from podium.config.feature_gates import FeatureGates
from podium.errors import PodiumError
from podium.framework.registry import Registry
from podium.release import LATEST, Release
from podium.snapshot import Snapshot
from podium.snapshot.kinds import creation_order


def load_snapshot(args: argparse.Namespace) -> Snapshot | None:
    """Return the snapshot of ``--from``, if it is given, and say what is missing from it."""
    if args.source is None:
        if args.freeze:
            raise PodiumError("--freeze is for the state of a snapshot: give one with --from")
        return None
    given = {
        "--nodes": args.nodes,
        "--node-template": args.node_template,
        "--devices": args.devices,
    }
    for option in [option for option, value in given.items() if value]:
        raise PodiumError(f"{option} is for a new cluster: leave it out beside --from")
    found = snapshot.load(args.source)
    if not found.of_kind("Node"):
        hint = "save a snapshot with nodes, or start without --from and apply the file"
        raise PodiumError(f"{args.source}: it has no nodes, so no pod could be placed; {hint}")
    if found.is_anonymized and not args.freeze:
        why = "controllers know pods by names that an anonymized snapshot no longer has"
        raise PodiumError(f"{args.source}: {why}; add --freeze")
    if not args.ready_fd:  # with --detach the parent process has printed it
        warn(found)
    return found


def release_of(args: argparse.Namespace, found: Snapshot | None) -> Release:
    given: Release | None = args.kubernetes_version
    return given or (found.release if found else None) or LATEST


def state_of(args: argparse.Namespace, found: Snapshot | None) -> RestoredState | None:
    if found is None:
        return None
    taken_at = parse_time(found.taken_at) / NANOSECONDS if found.taken_at else None
    nodes = len(found.of_kind("Node"))
    return RestoredState(creation_order(found.objects), nodes, taken_at, args.freeze)


def configure(
    args: argparse.Namespace, found: Snapshot | None, gates: FeatureGates
) -> Callable[[Registry], Configuration]:
    """Return how to read the configuration: of ``--config``, of the snapshot, or the default."""
    if args.config:
        return partial(config.load_file, args.config, gates=gates)
    if found is not None and found.configuration is not None:
        source = f"{args.source} (the scheduler's configuration in it)"
        value = dict(found.configuration)
        if value.pop(
            "extenders", None
        ):  # a copy must not call the extenders of the original cluster
            print_error("note: the extenders of the snapshot's configuration are not called")
        return partial(config.from_value, value, source=source, gates=gates)
    return partial(config.default, gates=gates)
