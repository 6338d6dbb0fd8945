"""``podium scheduler``: the scheduler process, for any cluster, with kube-scheduler's flags."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from podium.app import plugin_loading, process
from podium.app.feature_gates import LiveOptions
from podium.app.own_plugins import in_tree_with_legacy
from podium.cli import log_settings, scheduler_configuration
from podium.cli.arguments.parser import BAD_INPUT, Parser
from podium.cli.arguments.scheduler_flags import Given, add_options
from podium.cli.messages import print_error
from podium.cli.scheduler_configuration import Configured
from podium.cli.version import podium_version
from podium.config.dump import to_yaml
from podium.config.feature_gates import FeatureGates
from podium.errors import ConfigError, PodiumError, Problem
from podium.logs import get_logger
from podium.release import LATEST

log = get_logger(__name__)


def run(args: argparse.Namespace, plugins: Iterable[object] = ()) -> int:
    """Run until a signal arrives; ``plugins`` come from a program that calls ``podium.main``."""
    given = Given(args)
    if given.value("version"):
        print(f"podium {podium_version()}, as kube-scheduler v{LATEST}")
        return 0
    try:
        gates = scheduler_configuration.check(given)
        log_settings.write(given, gates)
        configured = _configured(args, plugins, gates)
        scheduler_configuration.log_notices(given, configured)
        if given.value("write-config-to"):
            return _write(configured, Path(given["write-config-to"]))
        return _run(given, configured, gates)
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT


def _configured(
    args: argparse.Namespace, plugins: Iterable[object], gates: FeatureGates
) -> Configured:
    registry = plugin_loading.registry(args.plugin, plugins, in_tree_with_legacy(gates))
    return scheduler_configuration.configure(Given(args), registry, gates)


def _run(given: Given, configured: Configured, gates: FeatureGates) -> int:
    options = process.ProcessOptions(
        configz=configured.shown(),
        master=given.value("master"),
        bind_address=given.value("bind-address"),
        secure_port=given.value("secure-port"),
        shows_hidden_metrics=bool(given.value("show-hidden-metrics-for-version")),
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


def main(plugins: Iterable[object] = (), argv: Sequence[str] | None = None) -> int:
    """Run ``podium scheduler`` with additional classes, factories and decorated functions.

    This is ``podium.main``, for programs that bring their own plugins. The plugins run in every
    profile that does not name them. Returns the exit status.
    """
    parser = Parser(
        allow_abbrev=False,
        usage="%(prog)s [flags]",
        description="The Kubernetes scheduler with plugins of this program. Without --kubeconfig "
        "and --master it uses the service account of the pod it runs in.",
    )
    add_options(parser)
    return run(parser.parse_args(argv), plugins)
