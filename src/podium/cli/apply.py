"""``podium apply``: make objects be as files say."""

from __future__ import annotations

import argparse

from podium.apiserver.statuses import Json
from podium.cli import session
from podium.cli.complaint import FAILED, complain
from podium.cli.manifests import read_objects
from podium.cli.parser import Subparsers
from podium.cli.resources import Resources
from podium.cli.session import Session
from podium.errors import Conflict, PodiumError

_MANAGER = "podium"


_EXAMPLES = """\
examples:
  podium apply -f web.yaml
  podium apply -f manifests/ -n team
  cat web.yaml | podium apply -f -
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "apply",
        help="create or change objects as files say",
        description="Send objects to the API server with server-side apply: what a file leaves "
        "out stays as it is. For people without kubectl.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        action="append",
        required=True,
        help="YAML or JSON, a directory, or - for standard input; can be repeated",
    )
    parser.add_argument(
        "--force-conflicts", action="store_true", help="take over fields that others own"
    )
    session.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    try:
        objects = read_objects(args.filename)
        api = Session.of(args)
        resources = Resources(api)
    except PodiumError as error:
        complain(error)
        return FAILED
    failed = False
    for source, obj in objects:
        try:
            print(apply_one(api, resources, obj, args), flush=True)
        except PodiumError as error:
            complain(f"{error} (in {source})")
            failed = True
    return FAILED if failed else 0


def apply_one(api: Session, resources: Resources, obj: Json, args: argparse.Namespace) -> str:
    """Apply one object; what happened to it, in kubectl's words."""
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
