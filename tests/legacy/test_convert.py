"""Conversion to v1: what is written is read again as the same configuration."""

import dataclasses

import pytest
import yaml
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from podium import config
from podium.config import export, upstream
from podium.config.load import read
from podium.config.problems import Problems
from podium.errors import ConfigError
from podium.legacy import VERSIONS
from podium.legacy.convert import convert
from podium.legacy.counterparts import in_v1
from podium.legacy.versions.default_plugins import V1BETA1
from tests.config.test_examples import EXAMPLES, FILES, ROOT
from tests.support.configurations import KNOWN, header, order
from tests.support.search import examples

OLDER = ("v1beta3", "v1beta2", "v1beta1", "v1alpha2")


def converted(text):
    """The file before, the v1 file made of it, and the warnings on the way."""
    before = read(text, KNOWN, versions=VERSIONS)
    made = convert(before, KNOWN)
    after = config.load(yaml.safe_dump(made.value, sort_keys=False), KNOWN)
    return before.configuration, after, [warning.message for warning in made.warnings]


def without_warnings(configuration):
    return dataclasses.replace(configuration, warnings=())


def check_same(before, after):
    """The same, with the counterparts of dropped plugins in their places."""
    top = {"profiles": (), "warnings": ()}
    assert dataclasses.replace(before, **top) == dataclasses.replace(after, **top)
    for old, new in zip(before.profiles, after.profiles, strict=True):
        profile = in_v1(old, "", Problems(), Problems())
        assert new.scheduler_name == old.scheduler_name
        assert new.percentage_of_nodes_to_score == old.percentage_of_nodes_to_score
        assert {p.value: list(names) for p, names in new.plugins.items()} == profile.points
        assert new.weights == profile.weights
        for name, args in new.args.items():
            # A counterpart that takes a dropped plugin's place has its defaults beside that.
            assert export.args_fields(args) == export.args_fields(type(args)()) | profile.args.get(
                name, {}
            )
    if not any(name in upstream.LEGACY_POINTS for p in before.profiles for name in p.args):
        assert without_warnings(after) == without_warnings(before)


@pytest.mark.parametrize("name", FILES)
def test_examples(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    try:
        before, after, _ = converted((EXAMPLES / name).read_text())
    except ConfigError as error:
        told = {problem.message.partition(";")[0] for problem in error.problems}
        assert told == set(INEXPRESSIBLE[name])
    else:
        assert name not in INEXPRESSIBLE
        check_same(before, after)


INEXPRESSIBLE = {
    "policy/everything.yaml": [
        "v1 cannot express it",
        (
            "v1 scores resources by one strategy, and this profile by several: "
            "NodeResourcesLeastAllocated, NodeResourcesMostAllocated, RequestedToCapacityRatio"
        ),
        "v1 has no counterpart of NodeLabel at score",
        "v1 has no counterpart of NodePreferAvoidPods",
        "v1 has no counterpart of ServiceAffinity",
    ],
    "v1beta1/dropped-plugins.yaml": ["v1 has no counterpart of ServiceAffinity"],
    "v1beta2/score-in-place.yaml": ["v1 has no counterpart of SelectorSpread"],
    "v1beta3/multi-point.yaml": ["v1 has no counterpart of SelectorSpread"],
}


def plugin_lists(version):
    """Plugin sets that are mostly fine: plugins where they run, defaults disabled beforehand."""
    keys = [
        key for key in upstream.INTERFACES if key not in (*upstream.PLACEMENT_KEYS, "queueSort")
    ]
    if version in ("v1beta1", "v1alpha2"):
        keys.remove("preEnqueue")
    if version == "v1alpha2":
        keys.remove("postFilter")
    return st.fixed_dictionaries({}, optional={key: plugin_set(key, version) for key in keys})


def plugin_set(key, version):
    known = [
        name
        for name in KNOWN
        if key in {point.value for point in KNOWN.points(name)}
        and (version in ("v1beta1", "v1alpha2") or name not in upstream.REMOVED_IN_V1BETA2)
    ]
    if not known:
        return st.just({})
    names = st.lists(st.sampled_from(known), unique=True, max_size=4)
    return st.builds(
        lambda enabled, others, weight: {
            "enabled": [
                {"name": name, **({"weight": weight} if key == "score" else {})} for name in enabled
            ],
            "disabled": [{"name": name} for name in (*enabled, *others)],
        },
        names,
        names | st.just(["*"] if key != "bind" else []),
        st.integers(0, 9),
    )


ARGS = {
    "NodeResourcesFit": st.sampled_from(
        [
            {"ignoredResources": ["a.io/x"]},
            {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu"}]}},
        ]
    ),
    "InterPodAffinity": st.builds(lambda n: {"hardPodAffinityWeight": n}, st.integers(0, 100)),
    "VolumeBinding": st.builds(lambda n: {"bindTimeoutSeconds": n}, st.integers(0, 900)),
    "PodTopologySpread": st.just(
        {
            "defaultConstraints": [
                {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
            ],
            "defaultingType": "List",
        }
    ),
    "TaintToleration": st.just({"kept": "unread"}),
}
arguments = st.fixed_dictionaries({}, optional=ARGS).map(
    lambda chosen: [{"name": name, "args": args} for name, args in chosen.items()]
)
tops = st.fixed_dictionaries(
    {},
    optional={
        "percentageOfNodesToScore": st.integers(0, 100),
        "podInitialBackoffSeconds": st.integers(1, 9),
        "enableProfiling": st.booleans(),
        "leaderElection": st.just({"leaderElect": False, "leaseDuration": "1m30s"}),
        "clientConnection": st.just({"qps": -1, "burst": 5, "kubeconfig": "/k"}),
    },
)


@st.composite
def files(draw):
    version = draw(st.sampled_from(OLDER))
    names = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True))
    profiles = [
        {
            "schedulerName": name,
            "plugins": draw(plugin_lists(version)),
            "pluginConfig": draw(arguments),
        }
        for name in names
    ]
    return header(version) + yaml.safe_dump({**draw(tops), "profiles": profiles})


@examples(60, suppress_health_check=list(HealthCheck))
@given(files())
def test_what_is_written_means_the_same(text):
    try:
        before, after, _ = converted(text)
    except ConfigError:
        assume(False)
    check_same(before, after)


def v1beta1(score="", **more):
    """A profile of v1beta1 with these plugins, and with none of those that v1 has dropped."""
    dropped = [{"name": name} for name in V1BETA1["score"] if name in upstream.LEGACY_POINTS]
    enabled = [{"name": name, "weight": 3} for name in score.split()]
    plugins = {"score": {"enabled": enabled, "disabled": dropped}, **more.pop("plugins", {})}
    profile = {"schedulerName": "a", "plugins": plugins, **more}
    return header("v1beta1") + yaml.safe_dump({"profiles": [profile]})


@pytest.mark.parametrize(
    ("plugin", "kind"),
    [
        ("NodeResourcesLeastAllocated", "LeastAllocated"),
        ("NodeResourcesMostAllocated", "MostAllocated"),
        ("RequestedToCapacityRatio", "RequestedToCapacityRatio"),
    ],
)
def test_scores_of_resources_become_a_strategy(plugin, kind):
    args = {"resources": [{"name": "a.io/gpu", "weight": 5}]}
    if plugin == "RequestedToCapacityRatio":
        args["shape"] = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    _, after, warnings = converted(v1beta1(plugin, pluginConfig=[{"name": plugin, "args": args}]))
    [profile] = after.profiles
    strategy = profile.args["NodeResourcesFit"].scoring_strategy

    assert order(profile)["score"].endswith("TaintToleration=1 NodeResourcesFit=3")
    assert strategy.type == kind
    assert [(spec.name, spec.weight) for spec in strategy.resources] == [("a.io/gpu", 5)]
    assert warnings == []


def test_labels_become_an_affinity():
    node_label = {"presentLabels": ["region"], "absentLabels": ["retiring"]}
    _, after, warnings = converted(
        v1beta1(
            plugins={"filter": {"enabled": [{"name": "NodeLabel"}]}},
            pluginConfig=[{"name": "NodeLabel", "args": node_label}],
        )
    )
    added = after.profiles[0].args["NodeAffinity"].added_affinity
    [term] = added.required.node_selector_terms

    assert [(each.key, each.operator) for each in term.match_expressions] == [
        ("region", "Exists"),
        ("retiring", "DoesNotExist"),
    ]
    assert "NodeLabel" not in order(after.profiles[0])["filter"]
    assert warnings == []


def test_no_labels_ask_for_nothing():
    """An empty term would match no node."""
    _, after, _ = converted(v1beta1(plugins={"filter": {"enabled": [{"name": "NodeLabel"}]}}))

    assert after.profiles[0].args["NodeAffinity"].added_affinity is None


def test_labels_are_asked_for_beside_each_term_that_is_there():
    _, after, _ = converted((EXAMPLES / "v1beta1/node-label.yaml").read_text())
    added = after.profiles[0].args["NodeAffinity"].added_affinity

    assert [
        [each.key for each in term.match_expressions] for term in added.required.node_selector_terms
    ] == [["pool", "region", "retiring"], ["pool", "region", "retiring"]]


def policy(text):
    return converted(header("Policy") + text)


def test_limits_of_clouds_are_counted_by_node_volume_limits():
    _, after, warnings = policy(
        "predicates: [{name: MaxEBSVolumeCount}, {name: MaxGCEPDVolumeCount}]\npriorities: []\n"
    )

    assert (
        order(after.profiles[0])["filter"] == "NodeUnschedulable TaintToleration NodeVolumeLimits"
    )
    assert warnings == [
        "NodeVolumeLimits takes the place of EBSLimits; it counts volumes of all CSI drivers"
    ]


def test_defaults_without_a_counterpart_are_left_out_with_a_warning():
    _, after, warnings = converted(header("v1alpha1"))

    assert [warning.partition(",")[0] for warning in warnings] == [
        "SelectorSpread",
        "NodePreferAvoidPods",
    ]
    assert after.profiles[0].args["PodTopologySpread"].defaulting_type == "System"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            header("Policy") + "alwaysCheckAllPredicates: true\npriorities: []\n",
            "alwaysCheckAllPredicates: v1 cannot express it",
            id="all-predicates",
        ),
        pytest.param(
            v1beta1("NodeResourcesFit NodeResourcesMostAllocated"),
            "profiles[0]: v1 scores resources by one strategy, and this profile by several: "
            "NodeResourcesFit, NodeResourcesMostAllocated",
            id="two-strategies",
        ),
        pytest.param(
            header("Policy")
            + "priorities: []\npredicates:\n"
            + "- {name: a, argument: {labelsPresence: {labels: [x]}}}\n",
            "which this profile does not enable; it would also respect what pods ask for",
            id="labels-without-affinity",
        ),
        pytest.param(
            v1beta1("NodeLabel"), "v1 has no counterpart of NodeLabel at score", id="labels-scored"
        ),
        pytest.param(
            v1beta1(
                "RequestedToCapacityRatio",
                pluginConfig=[
                    {
                        "name": "RequestedToCapacityRatio",
                        "args": {
                            "shape": [{"utilization": 0, "score": 1}],
                            "resources": [{"name": "cpu", "weight": 101}],
                        },
                    }
                ],
            ),
            "as v1 has 1 problem",
            id="stricter-in-v1",
        ),
    ],
)
def test_what_v1_cannot_say(text, expected):
    with pytest.raises(ConfigError) as error:
        converted(text)

    assert expected in str(error.value)


def test_v1_is_left_as_it_is():
    text = header("v1") + "profiles: [{plugins: {placementScore: {disabled: [{name: '*'}]}}}]\n"
    reading = read(text, KNOWN, versions=VERSIONS)

    assert convert(reading, KNOWN).value == yaml.safe_load(text)
