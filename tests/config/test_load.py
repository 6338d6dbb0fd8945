"""Whole files: what they become, and every problem with its path, line and message."""

import json
import textwrap

import pytest

from podium import config
from podium.config import Extender, LeaderElection, ManagedResource, TLSConfig
from podium.config.model import ClientConnection
from podium.errors import ConfigError
from podium.framework.points import Point
from tests.support.configurations import registry

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
KNOWN = registry()


def load(text):
    return config.load(HEADER + textwrap.dedent(text), KNOWN, source="scheduler.yaml")


def problems(text):
    with pytest.raises(ConfigError) as error:
        load(text)
    return [str(problem) for problem in error.value.problems]


def test_defaults():
    loaded = load("")

    assert loaded == config.default(KNOWN)
    assert (loaded.parallelism, loaded.percentage_of_nodes_to_score) == (16, None)
    assert (loaded.pod_initial_backoff_seconds, loaded.pod_max_backoff_seconds) == (1, 10)
    assert (loaded.enable_profiling, loaded.enable_contention_profiling) == (True, True)
    assert loaded.leader_election == LeaderElection(True, 15, 10, 2, "leases", "kube-scheduler")
    assert loaded.client_connection == ClientConnection(qps=50, burst=100)
    assert (loaded.extenders, loaded.delay_cache_until_active) == ((), False)


def test_a_full_file():
    loaded = load(
        """
        parallelism: 8
        percentageOfNodesToScore: 0
        podInitialBackoffSeconds: 2
        podMaxBackoffSeconds: 2
        enableProfiling: false
        delayCacheUntilActive: true
        leaderElection: {leaderElect: false, leaseDuration: 1m30s, resourceName: mine}
        clientConnection: {kubeconfig: /k, qps: -1, burst: 7, contentType: application/json}
        profiles:
        - schedulerName: a
          percentageOfNodesToScore: 50
        - schedulerName: b
          plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 5}]}}
        extenders:
        - urlPrefix: http://e/
          filterVerb: filter
          prioritizeVerb: rank
          weight: 3
          enableHTTPS: true
          tlsConfig: {serverName: e, caData: aGk=}
          httpTimeout: 100ms
          nodeCacheCapable: true
          managedResources: [{name: a.io/x, ignoredByScheduler: true}]
          ignorable: true
        - urlPrefix: http://f
        """
    )

    assert loaded.percentage_of_nodes_to_score == 0
    assert (loaded.parallelism, loaded.pod_initial_backoff_seconds) == (8, 2)
    assert (loaded.enable_profiling, loaded.enable_contention_profiling) == (False, False)
    assert loaded.leader_election == LeaderElection(False, lease_duration=90, resource_name="mine")
    assert loaded.client_connection == ClientConnection("/k", "", "application/json", -1, 7)
    assert [profile.scheduler_name for profile in loaded.profiles] == ["a", "b"]
    assert loaded.profiles[0].percentage_of_nodes_to_score == 50
    assert loaded.profiles[1].weights["NodeResourcesFit"] == 5
    assert loaded.extenders[1] == Extender("http://f")
    assert loaded.extenders[0] == Extender(
        url_prefix="http://e/",
        filter_verb="filter",
        prioritize_verb="rank",
        weight=3,
        enable_https=True,
        tls=TLSConfig(server_name="e", ca_data=b"hi"),
        http_timeout=0.1,
        node_cache_capable=True,
        managed_resources=(ManagedResource("a.io/x", ignored_by_scheduler=True),),
        ignorable=True,
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("profiles: []", id="no-profiles"),
        pytest.param("profiles: null", id="null"),
        pytest.param("profiles: [{}]", id="one-without-a-name"),
        pytest.param("profiles: [{plugins: {}, pluginConfig: []}]", id="empty-inside"),
        pytest.param("leaderElection: {leaseDuration: 0s, resourceName: ''}", id="zeros"),
        pytest.param("clientConnection: {qps: 0, burst: 0, contentType: ''}", id="zero-client"),
        pytest.param("parallelism: 16.0", id="whole-float"),
    ],
)
def test_same_as_the_default(text):
    assert load(text) == config.default(KNOWN)


def test_contention_profiling_may_be_on_alone():
    assert load(
        "enableProfiling: false\nenableContentionProfiling: true"
    ).enable_contention_profiling


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "parallelism: 0",
            "parallelism (line 3): Invalid value: 0: should be an integer value greater than zero",
        ),
        ("parallelism: '8'", 'parallelism (line 3): Invalid value: "8": must be an integer'),
        (
            "parallelism: 1e30",
            (
                "parallelism (line 3): Invalid value: 1e+30: "
                "must be an integer from -2147483648 to 2147483647"
            ),
        ),
        ("parallelism: .nan", "parallelism (line 3): Invalid value: NaN: must be an integer"),
        (
            "percentageOfNodesToScore: 120",
            "percentageOfNodesToScore (line 3): Invalid value: 120: not in valid range [0-100]",
        ),
        (
            "podInitialBackoffSeconds: 0",
            "podInitialBackoffSeconds (line 3): Invalid value: 0: must be greater than 0",
        ),
        (
            "podInitialBackoffSeconds: 11",
            (
                "podMaxBackoffSeconds (line 1): Invalid value: 10: "
                "must be greater than or equal to PodInitialBackoffSeconds, which is 11"
            ),
        ),
        (
            "enableProfiling: 'yes'",
            'enableProfiling (line 3): Invalid value: "yes": must be true or false',
        ),
        (
            "leaderElection:\n  leaseDuration: 15",
            (
                "leaderElection.leaseDuration (line 4): Invalid value: 15: "
                'must be a duration such as "15s" or "1m30s"'
            ),
        ),
        (
            "leaderElection: {leaseDuration: 10s}",
            (
                "leaderElection.leaseDuration (line 3): Invalid value: 10s: "
                "must be greater than `RenewDeadline`"
            ),
        ),
        (
            "leaderElection: {retryPeriod: -2s}",
            "leaderElection.retryPeriod (line 3): Invalid value: -2s: must be greater than zero",
        ),
        (
            "leaderElection: {resourceLock: endpoints}",
            (
                'leaderElection.resourceLock (line 3): Invalid value: "endpoints": '
                'resourceLock value must be "leases"'
            ),
        ),
        (
            "clientConnection:\n  burst: -1",
            "clientConnection.burst (line 4): Invalid value: -1: must be non-negative",
        ),
        (
            "profiles:\n- schedulername: a",
            (
                'profiles[0].schedulername (line 4): unknown field "schedulername"; '
                'did you mean "schedulerName"?'
            ),
        ),
        (
            "profiles:\n- plugins:\n    Score: {}",
            'profiles[0].plugins.Score (line 5): unknown field "Score"; did you mean "score"?',
        ),
        ("profiles: {}", "profiles (line 3): Invalid value: {}: must be a list"),
        (
            "profiles:\n- schedulerName: a\n- 5",
            "profiles[1] (line 5): Invalid value: 5: must be an object",
        ),
        (
            "profiles:\n- plugins: {filter: {enabled: [NodeName]}}",
            (
                "profiles[0].plugins.filter.enabled[0] (line 4): "
                'Invalid value: "NodeName": must be an object'
            ),
        ),
        (
            "leaderElection:\n  leaderElect: true\n  leaderElect: false",
            (
                'leaderElection.leaderElect (line 5): key "leaderElect" already set in map; '
                "it is first set on line 4"
            ),
        ),
        (
            "extenders:\n- prioritizeVerb: rank",
            (
                "extenders[0].weight (line 4): Invalid value: 0: "
                "must have a positive weight applied to it"
            ),
        ),
        (
            "extenders: [{bindVerb: a}, {bindVerb: b}]",
            (
                'extenders (line 3): Invalid value: "found 2 extenders implementing bind": '
                "only one extender can implement bind"
            ),
        ),
        (
            "extenders:\n- managedResources:\n  - name: cpu",
            (
                'extenders[0].managedResources[0].name (line 5): Invalid value: "cpu": '
                "is an invalid extended resource name"
            ),
        ),
        (
            "extenders: [{managedResources: &x [{name: a.io/x}]}, {managedResources: *x}]",
            (
                'extenders[1].managedResources[0].name (line 3): Invalid value: "a.io/x": '
                "duplicate extender managed resource name"
            ),
        ),
        (
            "extenders: [{managedResources: [{name: ''}]}]",
            (
                'extenders[0].managedResources[0].name (line 3): Invalid value: "": '
                "name part must be non-empty"
            ),
        ),
        (
            "extenders: [{enableHttps: true}]",
            (
                'extenders[0].enableHttps (line 3): unknown field "enableHttps"; '
                'did you mean "enableHTTPS"?'
            ),
        ),
        (
            "extenders: [{tlsConfig: {insecure: true, caFile: a}}]",
            (
                "extenders[0].tlsConfig.insecure (line 3): Invalid value: true: "
                "specifying a root certificates file with the insecure flag is not allowed"
            ),
        ),
    ],
)
def test_one_problem(text, expected):
    assert expected in problems(text)
    assert len(problems(text)) == (2 if "name part" in expected else 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "kind: KubeSchedulerConfiguration",
            "apiVersion (line 1): Object 'apiVersion' is missing; "
            "use kubescheduler.config.k8s.io/v1",
            id="no-version",
        ),
        pytest.param(
            "apiVersion: kubescheduler.config.k8s.io/v1",
            "kind (line 1): Object 'Kind' is missing; use KubeSchedulerConfiguration",
            id="no-kind",
        ),
        pytest.param(
            HEADER.replace("/v1", "/v2") + "unknown: 1",
            'apiVersion (line 1): no kind "KubeSchedulerConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v2"; did you mean "kubescheduler.config.k8s.io/v1"?',
            id="unknown-version-alone",
        ),
        pytest.param(
            HEADER.replace("KubeScheduler", "Kubelet"),
            'kind (line 2): no kind "KubeletConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v1"; did you mean "KubeSchedulerConfiguration"?',
            id="other-kind",
        ),
        pytest.param(
            HEADER.replace("KubeSchedulerConfiguration", "NodeAffinityArgs"),
            "kind (line 2): couldn't decode as KubeSchedulerConfiguration, "
            "got kubescheduler.config.k8s.io/v1, Kind=NodeAffinityArgs",
            id="args-kind",
        ),
        pytest.param(
            "",
            "the document is empty; expected an object with "
            "apiVersion: kubescheduler.config.k8s.io/v1 and kind: KubeSchedulerConfiguration",
            id="empty",
        ),
    ],
)
def test_what_is_no_configuration(text, expected):
    with pytest.raises(ConfigError) as error:
        config.load(text, KNOWN)

    assert [str(problem) for problem in error.value.problems] == [expected]


def test_all_problems_come_at_once_in_the_files_order():
    text = """\
        percentageOfNodesToScore: 120
        podMaxBackofSeconds: 5
        profiles:
        - schedulerName: a
        - schedulerName: b
          plugins:
            filter:
              enabled: [{name: NodeNam}]
          pluginConfig:
          - name: NodeResourcesFit
            args:
              percentage: -1
        leaderElection:
          retryPeriod: soon
        """

    with pytest.raises(ConfigError) as error:
        load(text)

    assert str(error.value) == textwrap.dedent(
        """\
        scheduler.yaml has 5 problems
          percentageOfNodesToScore (line 3): Invalid value: 120: not in valid range [0-100]
          podMaxBackofSeconds (line 4): unknown field "podMaxBackofSeconds"; \
did you mean "podMaxBackoffSeconds"?
          profiles[1].plugins.filter.enabled[0] (line 10): FilterPlugin "NodeNam" does not exist; \
did you mean "NodeName"?
          profiles[1].pluginConfig[0].args.percentage (line 14): Invalid value: -1: \
not in valid range [0, 100]
          leaderElection.retryPeriod (line 16): Invalid value: "soon": \
time: invalid duration "soon"; write it as "15s", "1m30s" or "100ms\""""
    )


def test_names_without_effect_are_warnings():
    loaded = load(
        """\
        profiles:
        - pluginConfig: [{name: NodeResourceFit, args: {x: 1}}]
          plugins: {score: {disabled: [{name: Zzzzzz}, {name: "*"}]}}
        """
    )

    assert [str(warning) for warning in loaded.warnings] == [
        (
            'profiles[0].pluginConfig[0].name (line 4): no plugin "NodeResourceFit"; '
            'this has no effect; did you mean "NodeResourcesFit"?'
        ),
        (
            "profiles[0].plugins.score.disabled[0].name (line 5): "
            'no plugin "Zzzzzz"; this has no effect'
        ),
    ]


def test_json_and_values():
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"filter": {"disabled": [{"name": "*"}]}}}],
    }

    loaded = config.from_value(value, KNOWN)

    assert loaded.profiles[0].plugins[Point.FILTER] == ()
    assert config.load(json.dumps(value, indent="\t"), KNOWN) == loaded


def test_values_have_no_lines():
    with pytest.raises(ConfigError) as error:
        config.from_value({"apiVersion": 10**5000, "x": {1: object()}, "y": object()}, KNOWN)

    assert all(problem.line is None for problem in error.value.problems)
