"""Legacy policies: what each predicate and priority becomes."""

import textwrap

import pytest

from podium import config
from podium.errors import ConfigError
from podium.framework.points import Point
from podium.legacy import VERSIONS
from tests.support.configurations import KNOWN, load, order

MANDATORY = "NodeUnschedulable TaintToleration"


def before_taints(names):
    return f"NodeUnschedulable {names} TaintToleration"


def profile(text):
    [found] = load("Policy", text).profiles
    return found


@pytest.mark.parametrize(
    ("predicate", "pre_filter", "filters"),
    [
        (
            "GeneralPredicates",
            "NodeResourcesFit NodePorts NodeAffinity",
            before_taints("NodeResourcesFit NodeName NodePorts NodeAffinity"),
        ),
        ("PodFitsResources", "NodeResourcesFit", before_taints("NodeResourcesFit")),
        ("HostName", "", before_taints("NodeName")),
        ("PodFitsHostPorts", "NodePorts", before_taints("NodePorts")),
        ("PodFitsPorts", "NodePorts", before_taints("NodePorts")),
        ("MatchNodeSelector", "NodeAffinity", before_taints("NodeAffinity")),
        ("CheckNodeUnschedulable", "", MANDATORY),
        ("PodToleratesNodeTaints", "", MANDATORY),
        ("CheckVolumeBinding", "VolumeBinding", f"{MANDATORY} VolumeBinding"),
        ("NoDiskConflict", "VolumeRestrictions", before_taints("VolumeRestrictions")),
        ("NoVolumeZoneConflict", "", f"{MANDATORY} VolumeZone"),
        ("MaxCSIVolumeCountPred", "", f"{MANDATORY} NodeVolumeLimits"),
        ("MaxEBSVolumeCount", "", f"{MANDATORY} EBSLimits"),
        ("MaxGCEPDVolumeCount", "", f"{MANDATORY} GCEPDLimits"),
        ("MaxAzureDiskVolumeCount", "", f"{MANDATORY} AzureDiskLimits"),
        ("MaxCinderVolumeCount", "", f"{MANDATORY} CinderLimits"),
        ("MatchInterPodAffinity", "InterPodAffinity", f"{MANDATORY} InterPodAffinity"),
        ("EvenPodsSpread", "PodTopologySpread", f"{MANDATORY} PodTopologySpread"),
        ("CheckNodeLabelPresence", "", f"{MANDATORY} NodeLabel"),
        ("CheckServiceAffinity", "ServiceAffinity", f"{MANDATORY} ServiceAffinity"),
    ],
)
def test_predicate(predicate, pre_filter, filters):
    found = order(profile(f"predicates: [{{name: {predicate}}}]\npriorities: []\n"))

    assert found["preFilter"] == pre_filter
    assert found["filter"] == filters
    has_volumes = "VolumeBinding" if predicate == "CheckVolumeBinding" else ""
    assert (found["reserve"], found["preBind"]) == (has_volumes, has_volumes)
    assert (found["preScore"], found["score"]) == ("", "")


@pytest.mark.parametrize(
    ("priority", "plugin", "prepares"),
    [
        ("SelectorSpreadPriority", "PodTopologySpread", True),
        ("ServiceSpreadingPriority", "PodTopologySpread", True),
        ("EvenPodsSpreadPriority", "PodTopologySpread", True),
        ("InterPodAffinityPriority", "InterPodAffinity", True),
        ("LeastRequestedPriority", "NodeResourcesLeastAllocated", False),
        ("MostRequestedPriority", "NodeResourcesMostAllocated", False),
        ("BalancedResourceAllocation", "NodeResourcesBalancedAllocation", False),
        ("NodePreferAvoidPodsPriority", "NodePreferAvoidPods", False),
        ("NodeAffinityPriority", "NodeAffinity", True),
        ("TaintTolerationPriority", "TaintToleration", True),
        ("ImageLocalityPriority", "ImageLocality", False),
    ],
)
def test_priority(priority, plugin, prepares):
    found = profile(f"predicates: []\npriorities: [{{name: {priority}, weight: 7}}]\n")

    assert found.weights == {plugin: 7}
    assert found.plugins[Point.PRE_SCORE] == ((plugin,) if prepares else ())
    assert found.plugins[Point.FILTER] == ("NodeUnschedulable", "TaintToleration")


@pytest.mark.parametrize(
    ("priorities", "spread", "weight"),
    [
        pytest.param("SelectorSpreadPriority", "System", 3, id="of-the-system"),
        pytest.param("EvenPodsSpreadPriority", "List", 3, id="of-pods-alone"),
        pytest.param("SelectorSpreadPriority EvenPodsSpreadPriority", "System", 4, id="both"),
        pytest.param("EvenPodsSpreadPriority SelectorSpreadPriority", "System", 3, id="turned"),
    ],
)
def test_spreading(priorities, spread, weight):
    """With both the weight of EvenPodsSpread stays, whatever their order."""
    listed = [f"{{name: {name}, weight: {3 + i}}}" for i, name in enumerate(priorities.split())]
    found = profile(f"priorities: [{', '.join(listed)}]\n")

    assert found.args["PodTopologySpread"].defaulting_type == spread
    assert found.weights == {"PodTopologySpread": weight}


def test_equal_priority_scores_nothing():
    assert profile("priorities: [{name: EqualPriority, weight: 1}]\n").weights == {}


def test_labels_of_several_predicates_are_one_plugin():
    found = profile(
        "predicates:\n"
        "- {name: a, argument: {labelsPresence: {labels: [x, y], presence: true}}}\n"
        "- {name: b, argument: {labelsPresence: {labels: [z], presence: true}}}\n"
        "- {name: c, argument: {serviceAffinity: {labels: [rack]}}}\n"
        "- {name: d, argument: {serviceAffinity: {labels: [zone]}}}\n"
    )

    assert found.args["NodeLabel"].present_labels == ("x", "y", "z")
    assert found.args["ServiceAffinity"].affinity_labels == ("rack", "zone")
    assert found.plugins[Point.FILTER].count("NodeLabel") == 1


def test_preferences_are_one_plugin_with_their_weights_added_up():
    found = profile(
        "priorities:\n"
        "- {name: a, weight: 2, argument: {labelPreference: {label: x, presence: true}}}\n"
        "- {name: b, weight: 2, argument: {labelPreference: {label: y, presence: false}}}\n"
        "- {name: c, weight: 2, argument: {labelPreference: {label: z, presence: false}}}\n"
        "- {name: d, weight: 5, argument: {serviceAntiAffinity: {label: rack}}}\n"
    )

    assert found.weights == {"NodeLabel": 6, "ServiceAffinity": 5}
    assert found.args["NodeLabel"].absent_labels_preference == ("y", "z")


def test_a_ratio_without_resources_is_of_cpu_and_memory():
    ratio = "{requestedToCapacityRatioArguments: {shape: [{utilization: 0, score: 5}]}}"
    found = profile(f"priorities: [{{name: mine, weight: 2, argument: {ratio}}}]\n")
    args = found.args["RequestedToCapacityRatio"]

    assert [spec.name for spec in args.resources] == ["cpu", "memory"]
    assert [(point.utilization, point.score) for point in args.shape] == [(0, 5)]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            "predicates: [{name: HostName, argument: {labelsPresence: {labels: [a]}}}]\n",
            "predicates[0].argument",
        ),
        (
            (
                "priorities: [{name: ImageLocalityPriority, weight: 1, "
                "argument: {labelPreference: {label: a}}}]\n"
            ),
            "priorities[0].argument",
        ),
    ],
)
def test_an_argument_without_effect_is_told(text, path):
    loaded = load("Policy", text)

    assert [warning.path for warning in loaded.warnings][1:] == [path]
    assert "NodeLabel" not in loaded.profiles[0].args


@pytest.mark.parametrize("weight", [0, 1, 100])
def test_hard_affinity_weight(weight):
    found = profile(f"hardPodAffinitySymmetricWeight: {weight}\n")

    assert found.args["InterPodAffinity"].hard_pod_affinity_weight == (weight or 1)


def test_always_checking_all_predicates_is_known():
    loaded = load("Policy", "alwaysCheckAllPredicates: true\n")

    assert loaded.run_all_filters
    assert [warning.path for warning in loaded.warnings] == ["apiVersion"]


def config_map(policy):
    body = textwrap.indent(policy, "    ")
    return f"apiVersion: v1\nkind: ConfigMap\ndata:\n  policy.cfg: |\n{body}"


def test_lines_in_a_config_map_are_those_of_the_file():
    text = config_map("kind: Policy\napiVersion: v1\npredicates:\n- name: HostNam\n")
    with pytest.raises(ConfigError) as error:
        config.load(text, KNOWN, versions=VERSIONS)

    assert [str(problem) for problem in error.value.problems] == [
        (
            'predicates[0].name (line 8): predicate type not found for "HostNam"; '
            'did you mean "HostName"?'
        )
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("{}", 'data (line 3): missing policy config map value at key "policy.cfg"'),
        ("{a: b}", 'data (line 3): missing policy config map value at key "policy.cfg"; it has a'),
        ("[]", 'data (line 3): missing policy config map value at key "policy.cfg"'),
        ("{policy.cfg: 'a: ['}", "not readable as YAML or JSON"),
        ("{policy.cfg: ''}", "the document is empty"),
    ],
)
def test_a_config_map_without_a_policy(data, expected):
    with pytest.raises(ConfigError) as error:
        config.load(f"apiVersion: v1\nkind: ConfigMap\ndata: {data}\n", KNOWN, versions=VERSIONS)

    [problem] = error.value.problems
    assert expected in str(problem)
