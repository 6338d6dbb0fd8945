"""``podium delete``: delete objects by name, by label, or the objects in files."""

from __future__ import annotations

import argparse
import sys
from typing import TypeAlias

from podium.apiserver.statuses import Json
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.manifests import read_objects
from podium.cli.messages import FAILED, print_error
from podium.cli.resources import Resource, Resources, split_names
from podium.cli.session import Session
from podium.errors import NotFound, PodiumError

Target: TypeAlias = tuple[Resource, str, str]  # a kind, a namespace, a name


def run(args: argparse.Namespace) -> int:
    if bool(args.what) == bool(args.filename):
        print_error("name what to delete: KIND NAME, or -f FILE")
        return BAD_INPUT
    try:
        objects = [obj for _, obj in read_objects(args.filename)] if args.filename else []
        api = Session.of(args)
        resources = Resources(api)
        targets = [_target(resources.of(obj), obj, args) for obj in objects]
        targets += find_targets(api, resources, args) if args.what else []
    except PodiumError as error:
        print_error(error)
        return FAILED
    if not targets:
        print("No resources found", file=sys.stderr)
    return _delete_all(api, targets, args)


def _delete_all(api: Session, targets: list[Target], args: argparse.Namespace) -> int:
    failed = False
    for kind, namespace, name in targets:
        try:
            api.call("DELETE", kind.path(namespace, name), _options(args))
            print(f'{kind.title} "{name}" deleted', flush=True)
        except PodiumError as error:
            if not (args.ignore_not_found and isinstance(error, NotFound)):
                print_error(error)
                failed = True
    return FAILED if failed else 0


def find_targets(api: Session, resources: Resources, args: argparse.Namespace) -> list[Target]:
    """Return the objects that the command line names or selects."""
    if all("/" in word for word in args.what):
        pairs = [split_names([word]) for word in args.what]
        return [
            (kind, args.namespace, name)
            for words, names in pairs
            for kind in resources.named(words)
            for name in names
        ]
    words, names = split_names(args.what)
    kinds = resources.named(words)
    if names:
        return [(kind, args.namespace, name) for kind in kinds for name in names]
    if not args.all and not args.selector:
        raise PodiumError("give names, labels with -l, or --all")
    return [target for kind in kinds for target in _selected(api, kind, args)]


def _selected(api: Session, kind: Resource, args: argparse.Namespace) -> list[Target]:
    listed = api.get(kind.path(args.namespace), labelSelector=args.selector)
    return [_target(kind, obj, args) for obj in listed.get("items") or []]


def _target(kind: Resource, obj: Json, args: argparse.Namespace) -> Target:
    meta = obj["metadata"]
    return (kind, meta.get("namespace") or args.namespace, meta["name"])


def _options(args: argparse.Namespace) -> Json:
    options: Json = {"propagationPolicy": "Background"}
    grace = 0 if args.force else args.grace_period
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    return options
