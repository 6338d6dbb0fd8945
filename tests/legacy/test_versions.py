"""What each version means: its default plugins, its merge, and the fields that it alone has."""

import pytest

from podium import config
from podium.config.merge import Entry, PluginSet, appended
from podium.errors import ConfigError
from podium.framework.points import Point
from podium.legacy import VERSIONS
from tests.support.configurations import KNOWN, header, load, order, problems

OLDER = ["v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"]

FILTERS = (
    "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit "
    "VolumeRestrictions EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding "
    "VolumeZone PodTopologySpread InterPodAffinity"
)
BETA = {
    "preEnqueue": "SchedulingGates",
    "queueSort": "PrioritySort",
    "preFilter": "NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread "
    "InterPodAffinity VolumeBinding NodeAffinity",
    "filter": FILTERS,
    "postFilter": "DefaultPreemption",
    "preScore": "InterPodAffinity PodTopologySpread TaintToleration NodeAffinity",
    "reserve": "VolumeBinding",
    "permit": "",
    "preBind": "VolumeBinding",
    "bind": "DefaultBinder",
    "postBind": "",
}
V1BETA1_SCORES = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 "
    "NodeResourcesLeastAllocated=1 NodeAffinity=1 NodePreferAvoidPods=10000 PodTopologySpread=2 "
    "TaintToleration=1"
)
ALPHA = {
    **BETA,
    "preFilter": "NodeResourcesFit NodePorts InterPodAffinity PodTopologySpread "
    "VolumeRestrictions VolumeBinding",
    "filter": "NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity "
    "VolumeRestrictions TaintToleration EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits "
    "VolumeBinding VolumeZone InterPodAffinity PodTopologySpread",
    "preScore": "InterPodAffinity SelectorSpread TaintToleration PodTopologySpread",
    "score": "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 "
    "NodeResourcesLeastAllocated=1 NodeAffinity=1 NodePreferAvoidPods=10000 SelectorSpread=1 "
    "TaintToleration=1 PodTopologySpread=1",
}
DEFAULTS = {
    "v1beta3": {
        **BETA,
        "preEnqueue": "DefaultPreemption SchedulingGates",
        "preFilter": "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts "
        "NodeResourcesFit VolumeRestrictions EBSLimits "
        "GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread "
        "InterPodAffinity",
        "preScore": "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding "
        "PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation",
        "score": "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 "
        "PodTopologySpread=2 InterPodAffinity=2 NodeResourcesBalancedAllocation=1 "
        "ImageLocality=1",
    },
    "v1beta2": {
        **BETA,
        "score": "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 "
        "NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2 TaintToleration=1",
    },
    "v1beta1": {**BETA, "score": V1BETA1_SCORES},
    "v1alpha2": ALPHA,
    "v1alpha1": ALPHA,
    "Policy": {
        **BETA,
        "preFilter": "NodeResourcesFit NodePorts NodeAffinity VolumeRestrictions VolumeBinding "
        "PodTopologySpread InterPodAffinity",
        "filter": "NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity "
        "VolumeRestrictions TaintToleration EBSLimits GCEPDLimits NodeVolumeLimits "
        "AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity",
        "preScore": "PodTopologySpread InterPodAffinity NodeAffinity TaintToleration",
        "score": "NodeResourcesBalancedAllocation=1 PodTopologySpread=2 ImageLocality=1 "
        "InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1 "
        "NodePreferAvoidPods=10000 TaintToleration=1",
    },
}


OF_GROUPS = {"podGroupPostFilter": "", "placementGenerate": "", "placementScore": ""}


@pytest.mark.parametrize("version", DEFAULTS)
def test_default_plugins(version):
    [profile] = load(version).profiles

    assert profile.scheduler_name == "default-scheduler"
    assert order(profile) == {**DEFAULTS[version], **OF_GROUPS}
    assert {origin for origins in profile.origins.values() for origin in origins} == {"default"}


@pytest.mark.parametrize("version", DEFAULTS)
def test_other_defaults_are_those_of_v1(version):
    loaded, usual = load(version), config.default(KNOWN)

    assert loaded.leader_election == usual.leader_election
    assert loaded.client_connection == usual.client_connection
    assert (loaded.parallelism, loaded.percentage_of_nodes_to_score) == (16, None)
    assert (loaded.pod_initial_backoff_seconds, loaded.pod_max_backoff_seconds) == (1, 10)
    assert (loaded.enable_profiling, loaded.enable_contention_profiling) == (True, True)


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("v1beta3", "1.28"),
        ("v1beta2", "1.27"),
        ("v1beta1", "1.22"),
        ("v1alpha2", "1.18"),
        ("v1alpha1", "1.18"),
        ("Policy", "1.22"),
    ],
)
def test_an_old_version_is_told(version, release):
    [warning] = load(version).warnings

    assert str(warning) == (
        f"apiVersion (line 1): {version} is read by kube-scheduler up to {release} only; "
        "podium config convert writes v1"
    )


@pytest.mark.parametrize(
    ("version", "spread"),
    [
        ("v1", "System"),
        ("v1beta3", "System"),
        ("v1beta2", "System"),
        ("v1beta1", "System"),
        ("v1alpha2", "List"),
        ("v1alpha1", "List"),
        ("Policy", "System"),
    ],
)
def test_default_spreading(version, spread):
    [profile] = load(version).profiles

    assert profile.args["PodTopologySpread"].defaulting_type == spread


CONSTRAINTS = """\
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultConstraints:
      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}
"""


def test_constraints_alone_were_a_list_up_to_v1beta1():
    body = f"profiles:\n- schedulerName: a\n{CONSTRAINTS}"
    [profile] = load("v1beta1", body).profiles

    assert profile.args["PodTopologySpread"].defaulting_type == "List"
    assert "when .defaultConstraints are not empty" in problems("v1beta2", body)[0]


def plugin_set(enabled, disabled=""):
    entries = [Entry(name, 0, f"enabled[{i}]") for i, name in enumerate(enabled.split())]
    return PluginSet(tuple(entries), tuple(disabled.split()))


@pytest.mark.parametrize(
    ("custom", "expected"),
    [
        pytest.param(plugin_set(""), "A B C", id="nothing-changed"),
        pytest.param(plugin_set("D"), "A B C D", id="added"),
        pytest.param(plugin_set("B"), "A B C B", id="not-replaced-in-place"),
        pytest.param(plugin_set("B", "B"), "A C B", id="disabled-and-enabled"),
        pytest.param(plugin_set("", "C A"), "B", id="disabled"),
        pytest.param(plugin_set("D B", "*"), "D B", id="all-disabled"),
        pytest.param(plugin_set("", "Z"), "A B C", id="unknown-disabled-in-silence"),
    ],
)
def test_appended(custom, expected):
    default = PluginSet(tuple(Entry(name, 1, "filter") for name in "ABC"))

    assert " ".join(appended(custom, default).names) == expected


@pytest.mark.parametrize(
    ("version", "key", "expected"),
    [
        pytest.param("v1beta3", "score", "NodeAffinity=7 TaintToleration=3", id="v1beta3"),
        pytest.param("v1beta2", "score", "NodeAffinity=7 PodTopologySpread=2", id="v1beta2"),
    ],
)
def test_from_v1beta2_on_a_listed_default_is_replaced(version, key, expected):
    body = f"profiles:\n- plugins: {{{key}: {{enabled: [{{name: NodeAffinity, weight: 7}}]}}}}\n"
    [profile] = load(version, body).profiles

    assert expected in order(profile)[key]
    assert list(profile.weights).count("NodeAffinity") == 1


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha2"])
def test_before_v1beta2_a_listed_default_is_there_twice(version):
    body = "profiles:\n- plugins: {score: {enabled: [{name: NodeAffinity, weight: 7}]}}\n"

    assert problems(version, body) == [
        (
            "profiles[0].plugins.score.enabled[0] (line 4): "
            'plugin "NodeAffinity" already registered as "ScorePlugin"; '
            "it is enabled by default; disable it first"
        )
    ]


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("lock", ["endpoints", "configmaps", "endpointsleases", "configmapsleases"])
def test_other_locks_become_leases(version, lock):
    loaded = load(version, f"leaderElection: {{resourceLock: {lock}, resourceName: mine}}\n")

    assert loaded.leader_election.resource_lock == "leases"
    assert loaded.leader_election.resource_name == "mine"
    assert [str(warning) for warning in loaded.warnings][1:] == [
        (
            f'leaderElection.resourceLock (line 3): "{lock}" locks are no longer supported; '
            "a Lease of the same name is used"
        )
    ]


def test_v1_knows_leases_only():
    assert problems("v1", "leaderElection: {resourceLock: endpoints}\n") == [
        (
            'leaderElection.resourceLock (line 3): Invalid value: "endpoints": '
            'resourceLock value must be "leases"'
        )
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("lockObjectName: a", ("a", "kube-system")),
        ("lockObjectNamespace: b", ("kube-scheduler", "b")),
        ("resourceName: a, lockObjectName: a", ("a", "kube-system")),
        ("resourceName: a, lockObjectNamespace: b", ("a", "b")),
    ],
)
def test_lock_object(given, expected):
    election = load("v1alpha1", f"leaderElection: {{{given}}}\n").leader_election

    assert (election.resource_name, election.resource_namespace) == expected


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha2", "v1alpha1"])
@pytest.mark.parametrize(
    ("address", "is_told"),
    [("0.0.0.0:10251", True), (":10251", True), ("1.2.3.4", True), ("''", False), (":0", False)],
)
def test_bind_addresses_have_no_effect(version, address, is_told):
    loaded = load(version, f"healthzBindAddress: '{address}'\n".replace("''''", "''"))

    assert len(loaded.warnings) == 1 + is_told


@pytest.mark.parametrize("address", ["", "0.0.0.0:0", ":0", "'[::]:0'"])
def test_v1beta2_takes_addresses_that_are_off(address):
    assert problems("v1beta2", f"metricsBindAddress: {address}\n") == []


def test_a_v1alpha1_file_is_one_profile():
    loaded = load(
        "v1alpha1",
        "schedulerName: sample-scheduler\n"
        "plugins:\n"
        "  postFilter: {enabled: [{name: NodeAffinity}], disabled: [{name: SelectorSpread}]}\n"
        "  unreserve: {enabled: [{name: VolumeBinding}]}\n"
        "  reserve: {disabled: [{name: '*'}]}\n"
        "bindTimeoutSeconds: 7\n"
        "hardPodAffinitySymmetricWeight: 9\n"
        "disablePreemption: true\n",
    )
    [profile] = loaded.profiles

    assert profile.scheduler_name == "sample-scheduler"
    assert profile.plugins[Point.PRE_SCORE][-1] == "NodeAffinity"
    assert profile.origins[Point.PRE_SCORE][-1] == "postFilter"
    assert "SelectorSpread" not in profile.plugins[Point.PRE_SCORE]
    assert profile.plugins[Point.RESERVE] == ("VolumeBinding",)
    assert profile.origins[Point.RESERVE] == ("unreserve",)
    assert profile.plugins[Point.POST_FILTER] == ()
    assert profile.args["VolumeBinding"].bind_timeout_seconds == 7
    assert profile.args["InterPodAffinity"].hard_pod_affinity_weight == 9


@pytest.mark.parametrize("weight", [0, 1, 100])
def test_hard_affinity_weight_may_be_zero(weight):
    [profile] = load("v1alpha1", f"hardPodAffinitySymmetricWeight: {weight}\n").profiles

    assert profile.args["InterPodAffinity"].hard_pod_affinity_weight == weight


def test_the_autoscaler_s_provider_packs():
    [profile] = load(
        "v1alpha1", "algorithmSource: {provider: ClusterAutoscalerProvider}\n"
    ).profiles

    assert order(profile)["score"] == ALPHA["score"].replace("Least", "Most")


def test_v1alpha2_settings_at_the_top_are_for_every_profile():
    body = "disablePreemption: true\nbindTimeoutSeconds: 7\nprofiles: [{schedulerName: a}, "
    loaded = load("v1alpha2", body + "{schedulerName: b}]\n")

    for profile in loaded.profiles:
        assert profile.plugins[Point.POST_FILTER] == ()
        assert profile.args["VolumeBinding"].bind_timeout_seconds == 7


def test_v1alpha2_knows_selector_spread_by_its_old_name():
    body = "profiles:\n- plugins: {score: {disabled: [{name: DefaultPodTopologySpread}]}}\n"
    loaded = load("v1alpha2", body)

    assert "SelectorSpread" not in loaded.profiles[0].weights
    assert len(loaded.warnings) == 1


def test_extenders_of_v1alpha2_count_nanoseconds():
    body = "extenders: [{urlPrefix: http://e, enableHttps: true, httpTimeout: 1500000000}]\n"
    [extender] = load("v1alpha2", body).extenders

    assert (extender.http_timeout, extender.enable_https) == (1.5, True)


def test_a_policy_named_in_a_file(tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(
        '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsResources"}],'
        ' "extenders": [{"urlPrefix": "http://e"}], "alwaysCheckAllPredicates": true}'
    )
    loaded = load(
        "v1alpha1",
        f"schedulerName: mine\ndisablePreemption: true\nbindTimeoutSeconds: 5\n"
        f"algorithmSource: {{policy: {{file: {{path: {policy}}}}}}}\n",
    )
    [profile] = loaded.profiles

    assert profile.scheduler_name == "mine"
    assert profile.plugins[Point.PRE_FILTER] == ("NodeResourcesFit",)
    assert profile.origins[Point.PRE_FILTER] == ("predicates",)
    assert profile.plugins[Point.POST_FILTER] == ()
    assert len(loaded.extenders) == 1
    assert loaded.run_all_filters


def test_problems_of_a_named_policy(tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text("kind: Policy\napiVersion: v1\npredicates: [{name: HostNam}]\n")
    source = f"algorithmSource: {{policy: {{file: {{path: {policy}}}}}}}\n"

    assert problems("v1alpha1", source) == [
        (
            f"algorithmSource.policy.file.path (line 3): {policy}: predicates[0].name (line 3): "
            'predicate type not found for "HostNam"; did you mean "HostName"?'
        )
    ]


@pytest.mark.parametrize(
    "legacy", ["NodeLabel", "NodeResourcesMostAllocated", "SelectorSpread", "EBSLimits"]
)
def test_v1_does_not_know_what_was_dropped(legacy):
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": legacy}]}}}
    value = {**dict(line.split(": ") for line in header("v1").splitlines()), "profiles": [profile]}

    with pytest.raises(ConfigError, match=f'"{legacy}" does not exist; '):
        config.from_value(value, KNOWN, versions=VERSIONS)
