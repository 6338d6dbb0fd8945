"""Every flag of kube-scheduler v1.36: its group, type and default, and what podium makes of it.

``podium scheduler`` parses them; docs/flags.md is the table for people.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from podium.cli.scheduler_flags_kinds import (
    BOOLEAN,
    DURATION,
    FILE,
    FLOAT,
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
    Kind,
)

LOOPBACK: Final = "127.0.0.1"
REFERENCE: Final = "1.36"
PREVIOUS: Final = "1.35"


class Fate(Enum):
    """What becomes of a flag that is given."""

    HONOURED = "honoured"
    FILE_DECIDES = "deprecated; ignored beside --config"
    DEPRECATED = "deprecated; honoured"
    NO_EFFECT = "accepted, without effect"
    UNSERVED = "refused unless --secure-port=0"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Flag:
    """``default`` is upstream's; a flag that is refused may still be given with its default."""

    name: str
    kind: Kind
    default: Any
    help: str
    fate: Fate = Fate.HONOURED

    @property
    def dest(self) -> str:
        return self.name.replace("-", "_")

    @property
    def shown_default(self) -> str:
        return self.kind.show(self.default)


def _unserved(name: str, kind: Kind, default: Any, help: str) -> Flag:
    return Flag(name, kind, default, help, Fate.UNSERVED)


_OPEN_PATHS = ["/healthz", "/readyz", "/livez"]
_STREAMS = "needs the feature gate LoggingAlphaOptions, which podium has not built"
_UNSERVED = "Refused unless --secure-port=0: podium serves plain HTTP on loopback, and asks nobody."

NOTES: Final[Mapping[str, str]] = {
    "secure serving": "Those of TLS, which podium lacks, are refused unless --secure-port=0.",
    "authentication": _UNSERVED,
    "authorization": _UNSERVED,
    "deprecated": "Beside --config the file decides. Then only the last of these counts, and the "
    "first if the file names no kubeconfig.",
    "leader election": "What is given here wins over the file of --config.",
}

GROUPS: Final[Mapping[str, list[Flag]]] = {
    "misc": [
        Flag("config", FILE, "", "a KubeSchedulerConfiguration of any version, or a Policy"),
        Flag("master", TEXT, "", "the API server's address; wins over the kubeconfig's"),
        Flag("write-config-to", FILE, "", "write the configuration to this file as v1, and exit"),
    ],
    "secure serving": [
        # Secure by default: upstream's 0.0.0.0 would show metrics to everybody, without TLS.
        Flag("bind-address", IP, LOOPBACK, "where health and metrics are served: loopback only"),
        Flag("secure-port", INTEGER, 10259, "0 serves nothing"),
        _unserved("cert-dir", FILE, "", "where certificates are kept"),
        _unserved("tls-cert-file", FILE, "", "the server's certificate"),
        _unserved("tls-private-key-file", FILE, "", "and its key"),
        _unserved("tls-cipher-suites", LIST, [], "ciphers to offer"),
        _unserved("tls-curve-preferences", INTEGERS, [], "key exchanges to offer"),
        _unserved("tls-min-version", TEXT, "", "VersionTLS10 to VersionTLS13"),
        _unserved("tls-sni-cert-key", REPEATED, [], "certificates by server name"),
        _unserved("permit-port-sharing", BOOLEAN, False, "let other processes use the port"),
        _unserved("permit-address-sharing", BOOLEAN, False, "let them use the address"),
        Flag("disable-http2-serving", BOOLEAN, False, "podium never serves it", Fate.NO_EFFECT),
        Flag("http2-max-streams-per-connection", INTEGER, 0, "the same", Fate.NO_EFFECT),
    ],
    "authentication": [
        _unserved("authentication-kubeconfig", FILE, "", "whom to ask who sends a request"),
        _unserved("authentication-skip-lookup", BOOLEAN, False, "ask for no certificates"),
        _unserved("authentication-token-webhook-cache-ttl", DURATION, 10.0, "for answers"),
        _unserved("authentication-tolerate-lookup-failure", BOOLEAN, True, "of certificates"),
        _unserved("client-ca-file", FILE, "", "who signs certificates of clients"),
        _unserved("requestheader-allowed-names", LIST, [], "proxies that may name users"),
        _unserved("requestheader-client-ca-file", FILE, "", "who signs their certificates"),
        _unserved("requestheader-extra-headers-prefix", LIST, ["x-remote-extra-"], "of headers"),
        _unserved("requestheader-group-headers", LIST, ["x-remote-group"], "headers with groups"),
        _unserved("requestheader-uid-headers", LIST, [], "headers with the user's UID"),
        _unserved("requestheader-username-headers", LIST, ["x-remote-user"], "with its name"),
    ],
    "authorization": [
        _unserved("authorization-kubeconfig", FILE, "", "whom to ask what a user may do"),
        _unserved("authorization-always-allow-paths", LIST, _OPEN_PATHS, "what everybody may read"),
        _unserved("authorization-webhook-cache-authorized-ttl", DURATION, 10.0, "for a yes"),
        _unserved("authorization-webhook-cache-unauthorized-ttl", DURATION, 10.0, "for a no"),
    ],
    "deprecated": [
        Flag("kubeconfig", FILE, "", "how to reach the cluster", Fate.FILE_DECIDES),
        Flag(
            "kube-api-content-type", TEXT, "application/vnd.kubernetes.protobuf",
            "of requests; podium always sends JSON", Fate.FILE_DECIDES,
        ),
        Flag("kube-api-qps", FLOAT, 50.0, "requests per second", Fate.FILE_DECIDES),
        Flag("kube-api-burst", INT32, 100, "requests at once", Fate.FILE_DECIDES),
        Flag("profiling", BOOLEAN, True, "podium serves no profiles", Fate.FILE_DECIDES),
        Flag("contention-profiling", BOOLEAN, True, "the same", Fate.FILE_DECIDES),
        Flag(
            "pod-max-in-unschedulable-pods-duration", DURATION, 300.0,
            "when a pod is tried again although nothing happened", Fate.DEPRECATED,
        ),
    ],
    "leader election": [
        Flag("leader-elect", BOOLEAN, True, "stand for election before scheduling"),
        Flag("leader-elect-lease-duration", DURATION, 15.0, "how long others wait for a leader"),
        Flag("leader-elect-renew-deadline", DURATION, 10.0, "how long a leader tries to renew"),
        Flag("leader-elect-retry-period", DURATION, 2.0, "between two tries"),
        Flag("leader-elect-resource-lock", TEXT, "leases", "only leases"),
        Flag("leader-elect-resource-name", TEXT, "kube-scheduler", "the name of the lease"),
        Flag("leader-elect-resource-namespace", TEXT, "kube-system", "and its namespace"),
    ],
    "feature gate": [
        Flag("feature-gates", LIST, [], "Name=true,Other=false; docs/feature-gates.md has all"),
        Flag("emulated-version", LIST, [], f"podium behaves as {REFERENCE} only"),
        Flag(
            "min-compatibility-version", LIST, [], "1.33 to 1.36", Fate.NO_EFFECT
        ),
    ],
    "metrics": [
        Flag("allow-metric-labels", REPEATED, [], "podium shows all labels", Fate.REFUSED),
        Flag("allow-metric-labels-manifest", FILE, "", "podium shows all labels", Fate.REFUSED),
        Flag("disabled-metrics", LIST, [], "podium shows all metrics", Fate.REFUSED),
        Flag(
            "show-hidden-metrics-for-version", TEXT, "", "podium hides no metric", Fate.NO_EFFECT
        ),
    ],
    "logs": [
        Flag("logging-format", TEXT, "", "text or json; without it json, but text on a terminal"),
        Flag("v", INTEGER, 0, "how much to log: 2 each decision, 3 each attempt and event"),
        Flag("vmodule", LEVELS, [], "the same for single modules of podium, such as binding=4"),
        Flag("log-flush-frequency", DURATION, 5.0, "lines are never held back", Fate.NO_EFFECT),
        Flag("log-text-split-stream", BOOLEAN, False, _STREAMS, Fate.REFUSED),
        Flag("log-json-split-stream", BOOLEAN, False, _STREAMS, Fate.REFUSED),
        Flag("log-text-info-buffer-size", QUANTITY, 0, _STREAMS, Fate.REFUSED),
        Flag("log-json-info-buffer-size", QUANTITY, 0, _STREAMS, Fate.REFUSED),
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

# Refused by kube-scheduler as well, without a word about what came after them.
GONE: Final[Mapping[str, str]] = {
    "algorithm-provider": f"gone since 1.22: {_PROFILES}",
    "scheduler-name": "gone since 1.22: schedulerName of a profile in the file of --config",
    "hard-pod-affinity-symmetric-weight": "gone since 1.22: hardPodAffinityWeight in the args of "
    "InterPodAffinity",
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


def add_to(parser: argparse.ArgumentParser) -> None:
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
    options: dict[str, Any] = {"nargs": "?", "const": True} if flag.kind.is_boolean else {}
    if flag.kind.is_list:
        options["action"] = "extend"
    names = [f"--{flag.name}"] if flag.name != "v" else ["-v", "--v"]
    group.add_argument(
        *names,
        type=flag.kind.read,
        default=argparse.SUPPRESS,  # what is not given is not there
        metavar=flag.kind.name.upper(),
        help=_help(flag).replace("%", "%%"),
        **options,
    )


def _help(flag: Flag) -> str:
    default = f" (default {flag.shown_default})" if flag.shown_default else ""
    fate = f" [{flag.fate.value}]" if flag.fate in (Fate.NO_EFFECT, Fate.REFUSED) else ""
    return f"{flag.help}{default}{fate}"


class _Gone(argparse.Action):
    """A flag that kube-scheduler once had."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        parser.error(f"unknown flag: {self.option_strings[0]}; {self.const}")


class Given(Mapping[str, Any]):
    """The flags that a command line gives, by name; ``value`` knows the defaults of the others."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._found = {
            name: value
            for name, flag in FLAGS.items()
            if (value := vars(args).get(flag.dest)) is not None  # `podium --version` is another
        }

    def __getitem__(self, name: str) -> Any:
        return self._found[name]

    def __iter__(self) -> Any:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def value(self, name: str) -> Any:
        return self._found.get(name, FLAGS[name].default)

    def of(self, fates: Iterable[Fate]) -> list[Flag]:
        """Those of such fates, but for what repeats the default."""
        wanted = set(fates)
        return [
            FLAGS[name]
            for name, value in self._found.items()
            if FLAGS[name].fate in wanted and value != FLAGS[name].default
        ]
