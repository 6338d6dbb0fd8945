"""Every flag of kube-scheduler: its group, type, default, and its effect in podium.

``podium scheduler`` parses them; docs/flags.md is the table for people.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from podium.cli.arguments.flag_types import (
    BOOLEAN,
    CERTIFICATES,
    DURATION,
    FILE,
    FLOAT,
    GATES,
    INT32,
    INTEGER,
    INTEGERS,
    IP,
    LEVELS,
    LIST,
    QUANTITY,
    REPEATED,
    TEXT,
    VERSION,
    FlagType,
)
from podium.cli.arguments.options import (
    add_plain_http_port,
    add_plugin,
    add_serves_dashboard,
    add_tracing_config,
    add_watch_config,
)
from podium.cli.arguments.parser import Subparsers
from podium.release import RELEASES

_EXAMPLES = """\
examples:
  podium scheduler --kubeconfig ~/.kube/config          schedule that cluster, under leader election
  podium scheduler --config scheduler.yaml              in a pod: with its service account
  podium scheduler --kubeconfig F --leader-elect=false  alone, without a lease
  podium scheduler --kubeconfig F --plugin ./rack.py    with your own plugin
  podium scheduler --kubeconfig F -v 3                  log every step of each attempt
  podium scheduler --kubeconfig F --plain-http-port=10251  metrics for everyone on this machine
  podium scheduler --kubeconfig F --plain-http-port=10251 --dashboard  and print a link to a page
  podium scheduler --config F --watch-config            use the file again when it changes
  podium scheduler --config F --write-config-to G       see the effective configuration
  podium scheduler --config F --tracing-config T        send spans to an OpenTelemetry collector
  podium scheduler --kubeconfig F --feature-gates=StorageCapacityScoring=true

Flags have kube-scheduler's names, types and defaults; docs/flags.md lists the effect of each.
"""


class Effect(Enum):
    """The effect of a flag on podium, if it is given."""

    HONOURED = "honoured"
    FILE_DECIDES = "deprecated; ignored beside --config"
    DEPRECATED = "deprecated; honoured"
    NO_EFFECT = "accepted, without effect"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Flag:
    """``default`` is upstream's; a flag that is refused may still be given with its default."""

    name: str
    type: FlagType
    default: Any
    help: str
    effect: Effect = Effect.HONOURED

    @property
    def dest(self) -> str:
        return self.name.replace("-", "_")

    @property
    def shown_default(self) -> str:
        return self.type.show(self.default)


_OPEN_PATHS = ["/healthz", "/readyz", "/livez"]
_SPLIT = "write info lines to stdout; needs the feature gate LoggingAlphaOptions"
_BUFFER = "bytes of info lines to collect in a split stream; needs LoggingAlphaOptions"

NOTES: Final[Mapping[str, str]] = {
    "authentication": "Without a kubeconfig, and outside a pod, everybody is anonymous.",
    "authorization": "Without a kubeconfig, and outside a pod, only paths that need no "
    "authorization are served.",
    "deprecated": "Ignored beside --config, except --pod-max-in-unschedulable-pods-duration, and "
    "except --kubeconfig if the file names no kubeconfig.",
    "leader election": "These override the file of --config.",
}

GROUPS: Final[Mapping[str, list[Flag]]] = {
    "misc": [
        Flag("config", FILE, "", "a KubeSchedulerConfiguration of any version, or a Policy"),
        Flag("master", TEXT, "", "address of the API server; overrides the kubeconfig"),
        Flag("write-config-to", FILE, "", "write the configuration to this file as v1, and exit"),
    ],
    "secure serving": [
        Flag("bind-address", IP, "0.0.0.0", "address of the secure port"),
        Flag("secure-port", INTEGER, 10259, "port for HTTPS; 0 serves none"),
        Flag("cert-dir", FILE, "", "directory to keep the self-signed certificate in"),
        Flag("tls-cert-file", FILE, "", "the server's certificate; read again when it changes"),
        Flag("tls-private-key-file", FILE, "", "the server's private key"),
        Flag("tls-cipher-suites", LIST, [], "cipher suites of TLS 1.2, by their names in Go"),
        Flag("tls-curve-preferences", INTEGERS, [], "the key exchange to offer: one CurveID of Go"),
        Flag("tls-min-version", TEXT, "", "VersionTLS10 to VersionTLS13; VersionTLS12 if empty"),
        Flag(
            "tls-sni-cert-key", CERTIFICATES, [],
            "certificates by server name, such as a.crt,a.key:a.example.com",
        ),
        Flag("permit-port-sharing", BOOLEAN, False, "let other processes use the port"),
        Flag(
            "permit-address-sharing", BOOLEAN, False, "podium always sets SO_REUSEADDR",
            Effect.NO_EFFECT,
        ),
        Flag(
            "disable-http2-serving", BOOLEAN, False, "podium serves HTTP/1.1 only", Effect.NO_EFFECT
        ),
        Flag(
            "http2-max-streams-per-connection", INTEGER, 0, "podium serves HTTP/1.1 only",
            Effect.NO_EFFECT,
        ),
    ],
    "authentication": [
        Flag("authentication-kubeconfig", FILE, "", "server that authenticates requests"),
        Flag(
            "authentication-skip-lookup", BOOLEAN, False,
            "do not look up the authentication configuration in the cluster",
        ),
        Flag(
            "authentication-token-webhook-cache-ttl", DURATION, 10.0,
            "how long to cache authenticated tokens",
        ),
        Flag(
            "authentication-tolerate-lookup-failure", BOOLEAN, True,
            "start even if that configuration cannot be looked up",
        ),
        Flag("client-ca-file", FILE, "", "authority that signs client certificates"),
        Flag("requestheader-allowed-names", LIST, [], "proxies that may name users"),
        Flag(
            "requestheader-client-ca-file", FILE, "", "authority that signs proxy certificates"
        ),
        Flag(
            "requestheader-extra-headers-prefix", LIST, ["x-remote-extra-"],
            "prefix of headers with further user data",
        ),
        Flag(
            "requestheader-group-headers", LIST, ["x-remote-group"],
            "headers with the user's groups",
        ),
        Flag("requestheader-uid-headers", LIST, [], "headers with the user's UID"),
        Flag(
            "requestheader-username-headers", LIST, ["x-remote-user"],
            "headers with the user's name",
        ),
    ],
    "authorization": [
        Flag("authorization-kubeconfig", FILE, "", "server that authorizes requests"),
        Flag(
            "authorization-always-allow-paths", LIST, _OPEN_PATHS,
            "paths that need no authorization",
        ),
        Flag(
            "authorization-webhook-cache-authorized-ttl", DURATION, 10.0,
            "how long to cache that a request is allowed",
        ),
        Flag(
            "authorization-webhook-cache-unauthorized-ttl", DURATION, 10.0,
            "how long to cache that a request is denied",
        ),
    ],
    "deprecated": [
        Flag("kubeconfig", FILE, "", "how to reach the cluster", Effect.FILE_DECIDES),
        Flag(
            "kube-api-content-type", TEXT, "application/vnd.kubernetes.protobuf",
            "content type of requests; podium always sends JSON", Effect.FILE_DECIDES,
        ),
        Flag("kube-api-qps", FLOAT, 50.0, "requests per second", Effect.FILE_DECIDES),
        Flag("kube-api-burst", INT32, 100, "requests at once", Effect.FILE_DECIDES),
        Flag("profiling", BOOLEAN, True, "serve /debug/pprof, /debug/flags", Effect.FILE_DECIDES),
        Flag(
            "contention-profiling", BOOLEAN, True, "Python has no such profile", Effect.FILE_DECIDES
        ),
        Flag(
            "pod-max-in-unschedulable-pods-duration", DURATION, 300.0,
            "retry an unschedulable pod after this time even if nothing has changed",
            Effect.DEPRECATED,
        ),
    ],
    "leader election": [
        Flag("leader-elect", BOOLEAN, True, "become the leader before scheduling"),
        Flag(
            "leader-elect-lease-duration", DURATION, 15.0, "how long others wait for the leader"
        ),
        Flag(
            "leader-elect-renew-deadline", DURATION, 10.0, "how long the leader tries to renew"
        ),
        Flag("leader-elect-retry-period", DURATION, 2.0, "time between two tries"),
        Flag("leader-elect-resource-lock", TEXT, "leases", "only leases"),
        Flag("leader-elect-resource-name", TEXT, "kube-scheduler", "name of the lease"),
        Flag("leader-elect-resource-namespace", TEXT, "kube-system", "namespace of the lease"),
    ],
    "feature gate": [
        Flag("feature-gates", GATES, [], "Name=true,Other=false; docs/feature-gates.md has all"),
        Flag("emulated-version", LIST, [], f"behave as {' or '.join(map(str, RELEASES))}"),
        Flag(
            "min-compatibility-version", LIST, [], "from 1.34 to the emulated", Effect.NO_EFFECT
        ),
    ],
    "metrics": [
        Flag("allow-metric-labels", REPEATED, [], "podium shows all labels", Effect.REFUSED),
        Flag("allow-metric-labels-manifest", FILE, "", "podium shows all labels", Effect.REFUSED),
        Flag("disabled-metrics", LIST, [], "podium shows all metrics", Effect.REFUSED),
        Flag(
            "show-hidden-metrics-for-version",
            TEXT,
            "",
            "the previous release: show metrics that are hidden since then",
        ),
    ],
    "logs": [
        Flag("logging-format", TEXT, "", "text or json (default: text on a terminal, else json)"),
        Flag("v", INTEGER, 0, "verbosity: 2 logs each decision, 3 each attempt and event"),
        Flag("vmodule", LEVELS, [], "verbosity of single modules of podium, such as binding=4"),
        Flag("log-flush-frequency", DURATION, 5.0, "how often collected lines are written"),
        Flag("log-text-split-stream", BOOLEAN, False, _SPLIT),
        Flag("log-json-split-stream", BOOLEAN, False, _SPLIT),
        Flag("log-text-info-buffer-size", QUANTITY, 0, _BUFFER),
        Flag("log-json-info-buffer-size", QUANTITY, 0, _BUFFER),
    ],
    "global": [Flag("version", VERSION, False, "print the version and exit")],
}  # fmt: skip

FLAGS: Final[Mapping[str, Flag]] = {flag.name: flag for flags in GROUPS.values() for flag in flags}

_PROFILES = "use profiles in the file of --config"
_POLICY = "give the policy's file to --config"
_STDERR = "logs go to stderr"
_KLOG = (
    "add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size "
    "logtostderr one-output skip-headers skip-log-headers stderrthreshold"
)

# kube-scheduler refuses these as well, without saying what replaces them.
GONE: Final[Mapping[str, str]] = {
    "algorithm-provider": f"gone since 1.22: {_PROFILES}",
    "scheduler-name": "gone since 1.22: use schedulerName of a profile in the file of --config",
    "hard-pod-affinity-symmetric-weight": "gone since 1.22: use hardPodAffinityWeight in the args "
    "of InterPodAffinity",
    "policy-config-file": f"gone since 1.23: {_POLICY}",
    "policy-configmap": f"gone since 1.23: {_POLICY}",
    "policy-configmap-namespace": f"gone since 1.23: {_POLICY}",
    "use-legacy-policy-config": f"gone since 1.23: {_POLICY}",
    "address": "gone since 1.24: use --bind-address",
    "port": "gone since 1.24: use --secure-port",
    "lock-object-name": "gone since 1.28: use --leader-elect-resource-name",
    "lock-object-namespace": "gone since 1.28: use --leader-elect-resource-namespace",
    **dict.fromkeys(_KLOG.split(), f"gone since 1.26: {_STDERR}"),
}


def add_scheduler(subparsers: Subparsers) -> None:
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
    """Add every flag, for ``podium scheduler`` and for programs that call ``podium.main``."""
    add_plugin(parser)
    add_watch_config(parser)
    add_plain_http_port(parser)
    add_serves_dashboard(parser)
    add_tracing_config(parser)
    for title, flags in GROUPS.items():
        group = parser.add_argument_group(f"{title} flags", NOTES.get(title))
        for flag in flags:
            _add(group, flag)
    for name, why in GONE.items():
        parser.add_argument(
            f"--{name}", action=_Gone, const=why, nargs="?", default=argparse.SUPPRESS,
            help=argparse.SUPPRESS,
        )  # fmt: skip


def _add(group: Any, flag: Flag) -> None:
    options: dict[str, Any] = {"nargs": "?", "const": True} if flag.type.is_boolean else {}
    names = [f"--{flag.name}"] if flag.name != "v" else ["-v", "--v"]
    group.add_argument(
        *names,
        type=flag.type.read,
        action="extend" if flag.type.is_list else "store",
        default=argparse.SUPPRESS,  # so that Given holds only the flags that were given
        metavar=flag.type.name.upper(),
        help=_help(flag).replace("%", "%%"),
        **options,
    )


def _help(flag: Flag) -> str:
    default = f" (default {flag.shown_default})" if flag.shown_default else ""
    is_shown = flag.effect in (Effect.NO_EFFECT, Effect.REFUSED)
    effect = f" [{flag.effect.value}]" if is_shown else ""
    return f"{flag.help}{default}{effect}"


class _Gone(argparse.Action):
    """A flag that kube-scheduler once had."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        parser.error(f"unknown flag: {self.option_strings[0]}; {self.const}")


class Given(Mapping[str, Any]):
    """The flags that were given, by name; ``value`` also knows the defaults of the others."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._found = {
            name: value
            for name, flag in FLAGS.items()
            if (value := vars(args).get(flag.dest)) is not None  # podium --version has None
        }

    def __getitem__(self, name: str) -> Any:
        return self._found[name]

    def __iter__(self) -> Any:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def value(self, name: str) -> Any:
        return self._found.get(name, FLAGS[name].default)

    def with_effect(self, *effects: Effect) -> list[Flag]:
        """Return the flags with one of these effects, except those given with their default."""
        return [
            FLAGS[name]
            for name, value in self._found.items()
            if FLAGS[name].effect in effects and value != FLAGS[name].default
        ]

    def log_lines(self) -> list[str]:
        """Return kube-scheduler's line about each flag, given or not, sorted by name."""
        return [f"FLAG: --{name}={self._quoted(name)}" for name in sorted(FLAGS)]

    def shown(self) -> dict[str, str]:
        """Return every flag, given or not, for ``/flagz``."""
        return {name: FLAGS[name].type.logged(self.value(name)) for name in FLAGS}

    def _quoted(self, name: str) -> str:
        return json.dumps(FLAGS[name].type.logged(self.value(name)), ensure_ascii=False)
