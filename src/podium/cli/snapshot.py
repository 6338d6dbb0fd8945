"""``podium snapshot``: save the state of a cluster to a file, and show what is in one."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import msgspec

from podium import snapshot
from podium.api.manifests import documents, read_text
from podium.cli import snapshot_saving
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import FAILED, print_error
from podium.cli.snapshot_text import print_saved, print_summary
from podium.errors import InvalidObject, PodiumError
from podium.snapshot import Snapshot
from podium.snapshot.anonymizing import anonymize
from podium.snapshot.model import Json
from podium.snapshot.summary import summarize


def run(args: argparse.Namespace) -> int:
    try:
        return _save(args) if args.action == "save" else _show(args)
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT


def _save(args: argparse.Namespace) -> int:
    if args.source and (args.kubeconfig or args.context):
        raise PodiumError("--from reads a file: leave out --kubeconfig and --context, or --from")
    configuration = _read_configuration(args.config) if args.config else None
    taken = snapshot.load(args.source) if args.source else _read_cluster(args)
    if configuration is not None:
        taken = replace(taken, configuration=configuration)
    if args.anonymize:
        taken = anonymize(taken)
    size = snapshot.write(taken, args.output)
    print_saved(taken, args.output, size)
    return FAILED if taken.is_partial else 0


def _read_cluster(args: argparse.Namespace) -> Snapshot:
    return snapshot_saving.read(snapshot_saving.connect(args.kubeconfig, args.context))


def _read_configuration(path: Path) -> Json:
    """Return the configuration in a file; whoever uses the snapshot validates it."""
    try:
        found = [each for each in documents(read_text(path)) if isinstance(each, dict)]
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error
    if len(found) != 1 or not str(found[0].get("kind", "")).startswith("KubeScheduler"):
        raise PodiumError(f"{path}: must hold one KubeSchedulerConfiguration")
    return found[0]


def _show(args: argparse.Namespace) -> int:
    taken = snapshot.load(args.file)
    try:
        summary = summarize(taken)
    except InvalidObject as error:
        raise PodiumError(f"{args.file}: {error}") from error
    if args.output == "json":
        print(msgspec.json.format(msgspec.json.encode(summary)).decode())
    else:
        print_summary(summary, args.file)
    return 0
