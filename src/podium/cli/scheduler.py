"""``podium scheduler``: the scheduler process, for any cluster, with kube-scheduler's flags."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from podium.app import plugin_loading
from podium.cli import plugin_options, scheduler_flags, scheduler_flags_effect
from podium.cli.complaint import BAD_INPUT, complain
from podium.cli.parser import Subparsers
from podium.cli.scheduler_flags import REFERENCE, Given
from podium.cli.scheduler_flags_effect import Configured
from podium.config.dump import to_yaml
from podium.config.feature_gates import FeatureGates
from podium.errors import ConfigError, PodiumError, Problem
from podium.logs import get_logger, write_logs

log = get_logger(__name__)


_EXAMPLES = """\
examples:
  podium scheduler --kubeconfig ~/.kube/config          schedule that cluster, under leader election
  podium scheduler --config scheduler.yaml              in a pod: with its service account
  podium scheduler --kubeconfig F --leader-elect=false  alone, without a lease
  podium scheduler --kubeconfig F --plugin ./rack.py    with a plugin of your own
  podium scheduler --kubeconfig F -v 3                  tell the story of each attempt
  podium scheduler --config F --write-config-to G       see what a configuration comes to
  podium scheduler --kubeconfig F --feature-gates=StorageCapacityScoring=true

Flags have kube-scheduler's names, types and defaults; docs/flags.md tells what becomes of each.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "scheduler",
        help="run the scheduler process on a cluster",
        usage="%(prog)s [flags]",
        description="Watch a cluster and bind its pods, as kube-scheduler does. Without "
        "--kubeconfig and --master it uses the service account of the pod it runs in.",
        epilog=_EXAMPLES,
        allow_abbrev=False,
    )
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What ``podium.main`` shares with the command."""
    plugin_options.add(parser)
    scheduler_flags.add_to(parser)


def run(args: argparse.Namespace, plugins: Iterable[object] = ()) -> int:
    """``plugins`` are those of a program that calls ``podium.main``."""
    given = Given(args)
    if given.value("version"):
        print(f"podium {_version()}, as kube-scheduler v{REFERENCE}")
        return 0
    try:
        gates = scheduler_flags_effect.check(given)
        write_logs(given.value("v"), given.value("logging-format"), dict(given.value("vmodule")))
        configured = _configured(args, plugins, gates)
        scheduler_flags_effect.tell(given, configured)
        if given.value("write-config-to"):
            return _write(configured, Path(given["write-config-to"]))
        return _run(given, configured, gates)
    except PodiumError as error:
        complain(error)
        return BAD_INPUT


def _configured(
    args: argparse.Namespace, plugins: Iterable[object], gates: FeatureGates
) -> Configured:
    from podium.app.gated import own_plugins  # loads the running scheduler, as few commands need

    registry = plugin_loading.registry(args.plugin, plugins, own_plugins(gates))
    return scheduler_flags_effect.configure(Given(args), registry, gates)


def _run(given: Given, configured: Configured, gates: FeatureGates) -> int:
    from podium.app import process
    from podium.app.gated import LiveOptions

    options = process.ProcessOptions(
        configz=configured.shown(),
        master=given.value("master"),
        bind_address=given.value("bind-address"),
        secure_port=given.value("secure-port"),
        live=LiveOptions(gates, given.value("pod-max-in-unschedulable-pods-duration")),
    )
    return process.run(configured.configuration, options, configured.registry)


def _write(configured: Configured, path: Path) -> int:
    text = to_yaml(configured.written())
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = Problem("", f"cannot be written: {error.strerror or error}")
        raise ConfigError(str(path), [problem]) from error
    log.info("Wrote configuration", file=str(path))
    return 0


def _version() -> str:
    try:
        return version("podium")
    except PackageNotFoundError:
        return "(a tree that is not installed)"
