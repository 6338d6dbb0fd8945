"""``podium apply``: create or update objects from files."""

from __future__ import annotations

import argparse

from podium.apiserver.statuses import Json
from podium.cli.manifests import read_objects
from podium.cli.messages import FAILED, print_error
from podium.cli.resources import Resources
from podium.cli.session import Session
from podium.errors import Conflict, PodiumError

_MANAGER = "podium"


def run(args: argparse.Namespace) -> int:
    try:
        objects = read_objects(args.filename)
        api = Session.of(args)
        resources = Resources(api)
    except PodiumError as error:
        print_error(error)
        return FAILED
    failed = False
    for source, obj in objects:
        try:
            print(apply_one(api, resources, obj, args), flush=True)
        except PodiumError as error:
            print_error(f"{error} (in {source})")
            failed = True
    return FAILED if failed else 0


def apply_one(api: Session, resources: Resources, obj: Json, args: argparse.Namespace) -> str:
    """Apply one object, and return what happened to it in kubectl's words."""
    resource = resources.of(obj)
    name = obj["metadata"]["name"]
    path = resource.path(obj["metadata"].get("namespace") or args.namespace, name)
    before = api.find(path)
    force = "&force=true" if args.force_conflicts else ""
    try:
        after = api.call(
            "PATCH",
            f"{path}?fieldManager={_MANAGER}{force}",
            obj,
            {"Content-Type": "application/apply-patch+yaml"},
        )
    except Conflict as conflict:
        hint = "take the fields over with --force-conflicts"
        raise PodiumError(f"{conflict}; {hint}") from conflict
    return f"{resource.title}/{name} {_what_happened(before, after)}"


def _what_happened(before: Json | None, after: Json) -> str:
    if before is None:
        return "created"
    versions = {obj["metadata"]["resourceVersion"] for obj in (before, after)}
    return "unchanged" if len(versions) == 1 else "configured"
