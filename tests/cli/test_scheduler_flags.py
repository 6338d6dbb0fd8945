"""What flags come to: the effective settings of command lines, and those that are refused."""

import pytest

from podium import app, config
from podium.cli import main
from podium.cli.arguments.parser import Parser
from podium.cli.arguments.scheduler_flags import FLAGS, GONE, GROUPS, Effect, Given, add_options
from podium.cli.scheduler_configuration import SOURCE, check, configure, log_notices
from podium.errors import ConfigError

REGISTRY = app.in_tree_with_legacy()
FILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: of-the-file, qps: 7}
leaderElection: {leaseDuration: 30s, resourceName: of-the-file}
enableProfiling: false
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text(FILE)
    return path


def given(*words):
    parser = Parser(allow_abbrev=False)
    add_options(parser)
    return Given(parser.parse_args(words))


def effective(*words):
    flags = given(*words)
    return configure(flags, REGISTRY, check(flags)).configuration


def refused(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["scheduler", *words])
    assert ended.value.code == 2
    return capsys.readouterr().err


# --- what flags are ------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", FLAGS.values(), ids=lambda flag: flag.name)
def test_a_flag_reads_its_own_default(flag):
    found = given(f"--{flag.name}={flag.shown_default}") if flag.shown_default else given()

    assert found.value(flag.name) == flag.default
    assert found.with_effect(*Effect) == []


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        pytest.param(["--leader-elect"], "leader-elect", True, id="bare-boolean"),
        pytest.param(["--leader-elect=false"], "leader-elect", False, id="boolean"),
        pytest.param(["--leader-elect=F"], "leader-elect", False, id="as-go-has-them"),
        pytest.param(["--leader_elect=0"], "leader-elect", False, id="underscore"),
        pytest.param(["--bind_address", "::1"], "bind-address", "::1", id="and-a-value-apart"),
        pytest.param(["--secure-port", "0"], "secure-port", 0, id="integer"),
        pytest.param(["--kube-api-qps=-1"], "kube-api-qps", -1.0, id="negative"),
        pytest.param(
            ["--leader-elect-retry-period=1m30s"], "leader-elect-retry-period", 90, id="duration"
        ),
        pytest.param(
            ["--disabled-metrics=a,b", "--disabled-metrics=c"],
            "disabled-metrics",
            ["a", "b", "c"],
            id="list",
        ),
        pytest.param(
            ["--tls-curve-preferences=23,24"], "tls-curve-preferences", [23, 24], id="ints"
        ),
        pytest.param(
            ["--tls-sni-cert-key=a,b:c", "--tls-sni-cert-key=d,e"],
            "tls-sni-cert-key",
            ["a,b:c", "d,e"],
            id="repeated",
        ),
        pytest.param(
            ["--feature-gates=A=true,B=false", "--feature-gates", "kube:C=true"],
            "feature-gates",
            ["A=true", "B=false", "kube:C=true"],
            id="gates",
        ),
        pytest.param(
            ["--log-text-info-buffer-size=64Ki"], "log-text-info-buffer-size", 65536, id="quantity"
        ),
        pytest.param(["-v", "3"], "v", 3, id="short"),
        pytest.param(["-v=3"], "v", 3, id="short-with-equals"),
        pytest.param(["--v=3"], "v", 3, id="long"),
        pytest.param(["--vmodule=a*=2,b=9"], "vmodule", [("a*", 2), ("b", 9)], id="levels"),
        pytest.param(["--version=raw"], "version", True, id="version"),
    ],
)
def test_value(words, name, value):
    assert given(*words).value(name) == value


@pytest.mark.parametrize(
    ("word", "told"),
    [
        pytest.param("--leader-elect=maybe", "must be true or false", id="boolean"),
        pytest.param("--leader-elect-retry-period=2", "missing unit", id="duration"),
        pytest.param("--secure-port=x", "invalid int value", id="integer"),
        pytest.param("--kube-api-qps=x", "invalid float value", id="float"),
        pytest.param("--kube-api-burst=2147483648", "out of range", id="int32"),
        pytest.param("--bind-address=here", 'failed to parse IP: "here"', id="address"),
        pytest.param(
            "--tls-curve-preferences=23,a", '"23,a" is not a list of integers', id="integers"
        ),
        pytest.param("--log-json-info-buffer-size=1Kb", "--log-json-info-buffer-size", id="amount"),
        pytest.param("--vmodule=a", "expect comma-separated list of pattern=N", id="levels"),
        pytest.param("--vmodule=a=x", "expect comma-separated list of pattern=N", id="level"),
        pytest.param("--version=v9", "--version", id="version"),
        pytest.param("--config", "expected one argument", id="missing"),
        pytest.param("--nosuch", "unknown flag: --nosuch\n", id="unknown"),
        pytest.param("--kubeconfg=x", 'did you mean "--kubeconfig"?', id="misspelt"),
        pytest.param("--leader", "unknown flag: --leader", id="no-abbreviations"),
        pytest.param("-x", "unknown flag: -x", id="unknown-letter"),
        pytest.param(
            "more", '"podium scheduler" does not take any arguments, got ["more"]', id="word"
        ),
    ],
)
def test_what_cannot_be_read(word, told, capsys):
    assert told in refused(capsys, word)


@pytest.mark.parametrize("name", GONE)
def test_a_flag_that_is_gone_says_what_came_after_it(name, capsys):
    assert f"unknown flag: --{name}; {GONE[name]}" in refused(capsys, f"--{name}=x")
    assert f"unknown flag: --{name}" in refused(capsys, f"--{name.replace('-', '_')}")


def test_help_shows_every_flag_and_none_that_is_gone(capsys):
    with pytest.raises(SystemExit):
        main(["scheduler", "--help"])
    shown = capsys.readouterr().out

    assert [name for name in FLAGS if f"--{name} " not in shown] == []
    assert [name for name in GONE if f"--{name} " in shown] == []
    assert all(f"{title} flags:" in shown for title in GROUPS)
    assert "examples:" in shown


@pytest.mark.parametrize(
    ("words", "value"),
    [
        pytest.param(["--secure-port=1", "--secure-port=0"], 0, id="a-number"),
        pytest.param(["--leader-elect", "--leader-elect=false"], False, id="a-boolean"),
    ],
)
def test_the_last_value_counts_as_in_kube_scheduler(words, value):
    name = words[0].lstrip("-").partition("=")[0]

    assert given(*words).value(name) == value


@pytest.mark.parametrize(
    ("words", "line"),
    [
        # As kube-scheduler v1.36.4 logs the same command lines.
        ([], 'FLAG: --pod-max-in-unschedulable-pods-duration="5m0s"'),
        ([], 'FLAG: --leader-elect="true"'),
        ([], 'FLAG: --kube-api-qps="50"'),
        ([], 'FLAG: --authorization-always-allow-paths="[/healthz,/readyz,/livez]"'),
        ([], 'FLAG: --disabled-metrics="[]"'),
        ([], 'FLAG: --feature-gates=""'),
        ([], 'FLAG: --tls-min-version=""'),
        (["--leader-elect=F"], 'FLAG: --leader-elect="false"'),
        (["--log-flush-frequency=90s"], 'FLAG: --log-flush-frequency="1m30s"'),
        (["--leader-elect-retry-period=1500ms"], 'FLAG: --leader-elect-retry-period="1.5s"'),
        (["--kube-api-qps=0.5"], 'FLAG: --kube-api-qps="0.5"'),
        (["--disabled-metrics=x,y"], 'FLAG: --disabled-metrics="[x,y]"'),
        (
            ["--allow-metric-labels=a,b=c,d", "--allow-metric-labels=e,f=g"],
            r'FLAG: --allow-metric-labels="[\"a,b=c,d\",\"e,f=g\"]"',
        ),
        (["--tls-curve-preferences=23,24"], 'FLAG: --tls-curve-preferences="[23,24]"'),
        (
            ["--tls-sni-cert-key=a,b:c", "--tls-sni-cert-key=d,e"],
            'FLAG: --tls-sni-cert-key="[a,b:c;d,e]"',
        ),
        (
            ["--feature-gates=StorageCapacityScoring=true,AllAlpha=false"],
            'FLAG: --feature-gates=":StorageCapacityScoring=true,:AllAlpha=false"',
        ),
        (["--emulated-version=kube=1.36"], 'FLAG: --emulated-version="[kube=1.36]"'),
        (["--vmodule=foo=3,bar=2"], 'FLAG: --vmodule="foo=3,bar=2"'),
        ([r'--master=a"b\é'], r'FLAG: --master="a\"b\\é"'),
        (["-v=1"], 'FLAG: --v="1"'),
        ([], 'FLAG: --version="false"'),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else each.split("=")[0][8:],
)
def test_flags_are_logged_as_kube_scheduler_logs_them(words, line):
    lines = given(*words).log_lines()

    assert line in lines
    assert lines == sorted(lines, key=lambda each: each.split("=")[0])
    assert len(lines) == len(FLAGS)


# --- what they come to ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "section", "fields"),
    [
        pytest.param(["--kubeconfig=F"], "client_connection", {"kubeconfig": "F"}, id="kubeconfig"),
        pytest.param(
            ["--kube-api-qps=-1", "--kube-api-burst=3", "--kube-api-content-type=application/json"],
            "client_connection",
            {"qps": -1.0, "burst": 3, "content_type": "application/json"},
            id="client",
        ),
        pytest.param(
            ["--profiling=false", "--contention-profiling=false"],
            "",
            {"enable_profiling": False, "enable_contention_profiling": False},
            id="profiling",
        ),
        pytest.param(
            ["--leader-elect=false"], "leader_election", {"leader_elect": False}, id="off"
        ),
        pytest.param(
            [
                "--leader-elect-lease-duration=1m",
                "--leader-elect-renew-deadline=20s",
                "--leader-elect-retry-period=5s",
                "--leader-elect-resource-name=mine",
                "--leader-elect-resource-namespace=here",
            ],
            "leader_election",
            {
                "lease_duration": 60,
                "renew_deadline": 20,
                "retry_period": 5,
                "resource_name": "mine",
                "resource_namespace": "here",
            },
            id="election",
        ),
    ],
)
def test_without_a_file(words, section, fields):
    """What is given changes; all else is as without flags."""
    found = effective(*words)
    usual = config.default(REGISTRY)
    ours, theirs = (getattr(each, section) if section else each for each in (found, usual))

    assert {name: getattr(ours, name) for name in fields} == fields
    assert type(ours)(**{**_fields(ours), **{n: getattr(theirs, n) for n in fields}}) == theirs


def _fields(value):
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def test_beside_a_file_election_wins_and_the_file_decides_the_rest(file):
    found = effective(
        f"--config={file}",
        "--leader-elect-resource-name=of-the-flag",
        "--kubeconfig=of-the-flag",
        "--kube-api-qps=1",
        "--profiling",
    )

    assert found.leader_election.resource_name == "of-the-flag"
    assert found.leader_election.lease_duration == 30
    assert (found.client_connection.kubeconfig, found.client_connection.qps) == ("of-the-file", 7)
    assert found.enable_profiling is False


def test_a_file_without_a_kubeconfig_leaves_it_to_the_flag(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text(FILE.replace("kubeconfig: of-the-file, ", ""))
    found = effective(f"--config={path}", "--kubeconfig=of-the-flag", "--kube-api-qps=1")

    client = found.client_connection
    assert (client.kubeconfig, client.qps) == ("of-the-flag", 7)


def test_flags_are_told_when_they_are_ignored(file, caplog):
    caplog.set_level("INFO")
    for words in (
        [f"--config={file}", "--kubeconfig=x", "--pod-max-in-unschedulable-pods-duration=1m"],
        ["--kube-api-qps=3", "--leader-elect=false", "--profiling=true"],
    ):
        flags = given(*words)
        log_notices(flags, configure(flags, REGISTRY, check(flags)))

    assert [record.getMessage() for record in caplog.records] == [
        "flag ignored: the file of --config decides flag='--kubeconfig'",
    ]


def test_a_kubeconfig_that_counts_is_not_told_to_be_ignored(tmp_path, caplog):
    path = tmp_path / "file.yaml"
    path.write_text(FILE.replace("kubeconfig: of-the-file, ", ""))
    flags = given(f"--config={path}", "--kubeconfig=of-the-flag")
    log_notices(flags, configure(flags, REGISTRY, check(flags)))

    assert "ignored" not in caplog.text


def test_warnings_of_the_file_are_told(tmp_path, caplog):
    path = tmp_path / "old.yaml"
    path.write_text(FILE.replace("/v1\n", "/v1beta3\n"))
    flags = given(f"--config={path}")
    log_notices(flags, configure(flags, REGISTRY, check(flags)))

    assert "kube-scheduler up to" in caplog.text


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(
            ["--leader-elect-lease-duration=1s"], "must be greater than `RenewDeadline`", id="lease"
        ),
        pytest.param(
            ["--leader-elect-resource-lock=endpoints"], 'value must be "leases"', id="lock"
        ),
        pytest.param(["--leader-elect-resource-name="], "resourceName: Required value", id="name"),
        pytest.param(["--kube-api-burst=-1"], "clientConnection.burst", id="burst"),
        pytest.param(["--secure-port=70000"], "must be between 0 and 65535", id="port"),
        pytest.param(["--secure-port=-1"], "must be between 0 and 65535", id="negative-port"),
        pytest.param(["--logging-format=xml"], "Unsupported log format", id="format"),
        pytest.param(
            ["--logging-format=json", "--vmodule=a=1"],
            "--vmodule: Forbidden: Only supported for text log format",
            id="vmodule",
        ),
        pytest.param(
            ["--emulated-version=1.35"],
            "emulation version 1.35 is not between [1.36, 1.37]",
            id="emulated-too-old",
        ),
        pytest.param(
            ["--emulated-version=1.38"],
            "emulation version 1.38 is not between [1.36, 1.37]",
            id="emulated-too-new",
        ),
        pytest.param(
            ["--emulated-version=kube=1.36,kube=1.37"],
            "duplicate version flag, kube=1.36 and kube=1.37",
            id="emulated-twice",
        ),
        pytest.param(
            ["--emulated-version=1.36.2"],
            "patch version not allowed, got: kube=1.36.2",
            id="emulated-patch",
        ),
        pytest.param(
            ["--emulated-version=new"], 'could not parse "new" as version', id="emulated-text"
        ),
        pytest.param(
            ["--emulated-version=wardle=1.36"],
            "component not registered: wardle",
            id="emulated-component",
        ),
        pytest.param(
            ["--emulated-version=1.36", "--min-compatibility-version=1.37"],
            "minCompatibilityVersion version 1.37 is not between [1.34, 1.36]",
            id="compatible-with-the-future",
        ),
        pytest.param(["--min-compatibility-version=1.20"], "[1.34, 1.37]", id="compatibility"),
        pytest.param(
            ["--show-hidden-metrics-for-version=1.30"],
            "must be omitted or have the value '1.36'; only the previous minor version is allowed",
            id="hidden-metrics",
        ),
        pytest.param(
            ["--disabled-metrics=a"], "podium shows all metrics; leave it out", id="metrics"
        ),
        pytest.param(["--feature-gates=Foo=true"], "unrecognized feature gate: Foo", id="gate"),
        pytest.param(["--config=nowhere.yaml"], "nowhere.yaml", id="no-file"),
    ],
)
def test_refused(words, told):
    with pytest.raises(ConfigError) as raised:
        effective(*words)

    assert told in str(raised.value)


@pytest.mark.parametrize(
    "flag",
    [flag for flag in FLAGS.values() if flag.effect is Effect.REFUSED],
    ids=lambda flag: flag.name,
)
def test_what_is_refused_is_named(flag):
    """Given with something else than its default."""
    other = {"bool": str(not flag.default), "duration": "7s"}.get(flag.type.name, "1")
    word = f"--{flag.name}={other}"
    with pytest.raises(ConfigError, match=f"{SOURCE} has 1 problem\n  --{flag.name}: "):
        check(given(word))


def test_all_problems_are_told_at_once():
    wrong = ("--tls-cert-file=x", "--disabled-metrics=a", "--secure-port=70000")

    with pytest.raises(ConfigError, match="the command line has 3 problems"):
        check(given(*wrong))
