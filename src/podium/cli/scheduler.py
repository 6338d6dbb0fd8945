"""``podium scheduler``: the scheduler process, for any cluster, with kube-scheduler's flags."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from podium.app import config_reloading, plugin_loading, process
from podium.app.config_reloading import ConfigFile, Loaded
from podium.app.feature_gates import LiveOptions
from podium.app.own_plugins import in_tree_with_legacy
from podium.app.tracing import traced
from podium.cli import log_settings, scheduler_configuration, serving_options
from podium.cli.arguments.parser import BAD_INPUT, Parser
from podium.cli.arguments.scheduler_flags import Given, add_options
from podium.cli.messages import print_error
from podium.cli.scheduler_configuration import Configured
from podium.cli.version import podium_version
from podium.config.dump import to_yaml
from podium.config.feature_gates import FeatureGates
from podium.dashboard import links
from podium.dashboard.site import site
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
        with traced(args.tracing_config) as tracer:
            longest = given.value("pod-max-in-unschedulable-pods-duration")
            return _run(args, configured, LiveOptions(gates, longest, tracer=tracer))
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT


def _configured(
    args: argparse.Namespace, plugins: Iterable[object], gates: FeatureGates
) -> Configured:
    registry = plugin_loading.registry(args.plugin, plugins, in_tree_with_legacy(gates))
    return scheduler_configuration.configure(Given(args), registry, gates)


def _watched(
    args: argparse.Namespace, configured: Configured, gates: FeatureGates
) -> ConfigFile | None:
    """Return the file that is read again when it changes; the plugins stay those of the start."""
    if not args.watch_config:
        return None
    given = Given(args)
    path = given.value("config")
    if not path:
        problem = Problem("--watch-config", "there is no file to watch: give one with --config")
        raise ConfigError(serving_options.SOURCE, [problem])

    def read() -> Loaded:
        config_reloading.require_file(Path(path))
        return _loaded(scheduler_configuration.configure(given, configured.registry, gates))

    return ConfigFile(Path(path), _loaded(configured), read)


def _loaded(configured: Configured) -> Loaded:
    return Loaded(
        configured.configuration,
        configured.registry,
        f"sha256:{configured.digest}",
        lambda used: configured._replace(configuration=used).shown(),
    )


def _run(args: argparse.Namespace, configured: Configured, live: LiveOptions) -> int:
    given = Given(args)
    pages = _Pages(args.plugin) if args.dashboard else None
    options = process.ProcessOptions(
        configz=configured.shown(),
        master=given.value("master"),
        serving=serving_options.read(given, args.plain_http_port),
        flags=given.shown(),
        shows_hidden_metrics=bool(given.value("show-hidden-metrics-for-version")),
        live=live,
        config_file=_watched(args, configured, live.gates),
        site=pages.make if pages is not None else None,
        on_plain=pages.print_link if pages is not None else lambda address: None,
    )
    return process.run(configured.configuration, options, configured.registry)


class _Pages:
    """The dashboard of this process. A link to it is printed, and another one after each use.

    A link goes to the standard output and not to the log: whoever reads the log may not sign in.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self._key = links.new_key()
        self._address = ""
        self.make = site(self._key, sources, lambda: self.print_link(self._address))

    def print_link(self, address: str) -> None:
        self._address = address
        print(f"dashboard: {links.link(address, self._key, time.time())}", flush=True)


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
