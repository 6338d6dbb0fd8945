"""What runs at each extension point, and what upstream would refuse to build."""

import pytest

from podium import app, config
from podium.config.expand import could_overflow
from podium.config.feature_gates import FeatureGates
from podium.errors import ConfigError
from podium.framework.points import Point
from podium.framework.registry import Registry
from podium.release import V1_36
from tests.support.configurations import plugin, registry

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}

DEFAULT = {
    "preEnqueue": "SchedulingGates DynamicResources DefaultPreemption",
    "queueSort": "PrioritySort",
    "preFilter": "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
    "NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
    "VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
    "NodeDeclaredFeatures",
    "filter": "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
    "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
    "InterPodAffinity DynamicResources NodeDeclaredFeatures",
    "postFilter": "DynamicResources DefaultPreemption",
    "podGroupPostFilter": "DynamicResources DefaultPreemption",
    "placementGenerate": "",
    "placementScore": "NodeResourcesFit",
    "preScore": "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
    "InterPodAffinity NodeResourcesBalancedAllocation",
    "score": "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
    "InterPodAffinity DynamicResources NodeResourcesBalancedAllocation ImageLocality",
    "reserve": "VolumeBinding DynamicResources",
    "permit": "",
    "preBind": "VolumeBinding DynamicResources",
    "bind": "DefaultBinder",
    "postBind": "",
}
DEFAULT_WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "VolumeBinding": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
MINE = plugin("Mine", ["filter", "score"])


def names(text):
    return [
        {"name": name, **({"weight": int(weight)} if weight else {})}
        for name, _, weight in (word.partition("=") for word in text.split())
    ]


def plugins(**points):
    """``plugins(filter="A B -C")``: enabled names, and with a dash disabled ones."""
    sets = {}
    for key, text in points.items():
        words = text.split()
        enabled = " ".join(word for word in words if word[0] != "-")
        disabled = " ".join(word[1:] for word in words if word[0] == "-")
        sets[key] = {"enabled": names(enabled), "disabled": names(disabled)}
    return sets


def load(*profiles, known=None):
    known = known or registry(MINE)
    return config.from_value({**HEADER, "profiles": list(profiles)}, known).profiles


def profile(known=None, **points):
    (found,) = load({"plugins": plugins(**points)}, known=known)
    return found


def problems(*profiles, known=None):
    with pytest.raises(ConfigError) as error:
        load(*profiles, known=known)
    return [str(problem) for problem in error.value.problems]


def test_default_profile_is_that_of_v1_37():
    (default,) = config.default(registry()).profiles

    assert default.scheduler_name == "default-scheduler"
    assert {point.value: " ".join(run) for point, run in default.plugins.items()} == DEFAULT
    assert default.weights == DEFAULT_WEIGHTS
    assert default.order_with_absent == default.plugins
    assert default.absent == {}


def test_default_profile_of_v1_36():
    known = app.in_tree(FeatureGates(V1_36))
    (default,) = config.default(known).profiles

    assert default.plugins[Point.FILTER][:3] == ("NodeUnschedulable", "NodeName", "TaintToleration")
    assert default.plugins[Point.PRE_FILTER][0] == "NodeAffinity"
    assert default.weights == DEFAULT_WEIGHTS
    assert default.absent == {}


@pytest.mark.parametrize(
    "given", [plugins(podGroupPostFilter="-*"), {"podGroupPostFilter": {}}], ids=["used", "empty"]
)
def test_a_point_that_only_a_later_release_has(given):
    value = {**HEADER, "profiles": [{"plugins": given}]}

    assert config.from_value(value, app.in_tree())
    with pytest.raises(ConfigError, match='unknown field "podGroupPostFilter"'):
        config.from_value(value, app.in_tree(FeatureGates(V1_36)))


REST = DEFAULT["filter"].removeprefix("NodeName NodeUnschedulable TaintToleration ")


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param({"filter": "Mine"}, f"{DEFAULT['filter']} Mine", id="new-one-runs-last"),
        pytest.param(
            {"filter": "TaintToleration NodeName"},
            f"TaintToleration NodeName NodeUnschedulable {REST}",
            id="listed-defaults-run-first-in-their-order",
        ),
        pytest.param(
            {"filter": "NodeName -NodeName"},
            f"NodeUnschedulable TaintToleration {REST} NodeName",
            id="enabled-and-disabled-moves-to-the-end",
        ),
        pytest.param(
            {"filter": "-NodeName"},
            f"NodeUnschedulable TaintToleration {REST}",
            id="disabled-at-the-point",
        ),
        pytest.param({"filter": "NodeName -*"}, "NodeName", id="star-leaves-the-list-alone"),
        pytest.param({"filter": "-*"}, "", id="star"),
        pytest.param(
            {"multiPoint": "Mine -NodeName"},
            f"NodeUnschedulable TaintToleration {REST} Mine",
            id="multi-point-adds-and-drops",
        ),
        pytest.param(
            {"multiPoint": "-NodeName", "filter": "NodeName"},
            f"NodeUnschedulable TaintToleration {REST} NodeName",
            id="dropped-from-multi-point-then-listed",
        ),
        pytest.param(
            {"multiPoint": "PrioritySort DefaultBinder NodeName -*"}, "NodeName", id="from-nothing"
        ),
    ],
)
def test_order(points, expected):
    assert " ".join(profile(**points).plugins[Point.FILTER]) == expected


@pytest.mark.parametrize(
    ("points", "name", "weight"),
    [
        pytest.param({"score": "TaintToleration"}, "TaintToleration", 1, id="relisted-becomes-1"),
        pytest.param({"multiPoint": "TaintToleration"}, "TaintToleration", 1, id="in-multi-point"),
        pytest.param({"score": "TaintToleration=7"}, "TaintToleration", 7, id="given"),
        pytest.param({"score": "Mine=0"}, "Mine", 1, id="zero-becomes-1"),
        pytest.param({"score": "Mine=-4"}, "Mine", -4, id="negative-is-not-refused"),
        pytest.param({"score": "Mine=5", "multiPoint": "Mine=9"}, "Mine", 5, id="score-goes-first"),
        pytest.param({"filter": "Mine", "score": "Mine=2"}, "Mine", 2, id="at-two-points"),
    ],
)
def test_weights(points, name, weight):
    assert profile(**points).weights[name] == weight


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        pytest.param([2**31 - 1] * 1000, False, id="the-file-cannot-reach-it"),
        pytest.param([(2**63 - 1) // 100], False, id="just-below"),
        pytest.param([(2**63 - 1) // 100, 1], True, id="just-above"),
        pytest.param([2**63], True, id="at-once"),
    ],
)
def test_overflow(weights, expected):
    assert could_overflow(dict(enumerate(weights))) is expected


def test_a_plugin_disabled_at_score_has_no_weight():
    assert "ImageLocality" not in profile(score="-ImageLocality").weights


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param(
            {"filter": "NodeResourceFit"},
            'plugins.filter.enabled[0]: FilterPlugin "NodeResourceFit" does not exist; '
            'did you mean "NodeResourcesFit"?',
            id="unknown-at-a-point",
        ),
        pytest.param(
            {"multiPoint": "Zzzzz"},
            'plugins.multiPoint.enabled[0]: PreFilterPlugin "Zzzzz" does not exist; '
            "--plugin FILE loads your own plugins",
            id="unknown-in-multi-point",
        ),
        pytest.param(
            {"filter": "*"},
            'plugins.filter.enabled[0]: FilterPlugin "*" does not exist; '
            "--plugin FILE loads your own plugins",
            id="star-only-disables",
        ),
        pytest.param(
            {"filter": "ImageLocality"},
            'plugins.filter.enabled[0]: plugin "ImageLocality" does not extend '
            "FilterPlugin plugin; it extends score",
            id="wrong-point",
        ),
        pytest.param(
            {"filter": "NodeName NodeName"},
            'plugins.filter.enabled[1]: plugin "NodeName" already registered as "FilterPlugin"; '
            "list it once",
            id="twice-at-a-point",
        ),
        pytest.param(
            {"multiPoint": "Mine Mine"},
            'plugins.multiPoint.enabled[1]: plugin "Mine" already registered as "FilterPlugin"; '
            "list it once",
            id="twice-in-multi-point",
        ),
        pytest.param(
            {"filter": "EBSLimits"},
            'plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1"); '
            "NodeVolumeLimits counts these volumes now",
            id="rejected-name",
        ),
        pytest.param(
            {"multiPoint": "EBSLimits"},
            'plugins.multiPoint.enabled[0]: PreFilterPlugin "EBSLimits" does not exist; '
            "NodeVolumeLimits counts these volumes now",
            id="rejected-name-in-multi-point",
        ),
        pytest.param(
            {"queueSort": "-*"},
            "plugins: only one queue sort plugin required "
            'for profile with scheduler name "default-scheduler", but got 0',
            id="no-queue-sort",
        ),
        pytest.param(
            {"bind": "-*"},
            "plugins: at least one bind plugin is needed "
            'for profile with scheduler name "default-scheduler"',
            id="no-binder",
        ),
        pytest.param(
            {"placementScore": "TopologyPlacementGenerator"},
            'plugins.placementScore.enabled[0]: plugin "TopologyPlacementGenerator" does not '
            "extend PlacementScorePlugin plugin; it extends placementGenerate",
            id="placement-keys-are-checked",
        ),
        pytest.param(
            {"score": "Mine=2147483648"},
            "plugins.score.enabled[0].weight: Invalid value: 2147483648: "
            "must be an integer from -2147483648 to 2147483647",
            id="huge-weight",
        ),
    ],
)
def test_refused(points, expected):
    assert problems({"plugins": plugins(**points)}) == [f"profiles[0].{expected}"]


def test_two_queue_sorts():
    known = registry(plugin("Fifo", ["queueSort"]))

    found = problems({"plugins": plugins(queueSort="Fifo")}, known=known)

    assert found == [
        (
            "profiles[0].plugins: only one queue sort plugin required "
            'for profile with scheduler name "default-scheduler", but got 2'
        )
    ]


def test_two_listed_queue_sorts():
    known = registry(plugin("Fifo", ["queueSort"]), plugin("Lifo", ["queueSort"]))

    found = problems({"plugins": plugins(queueSort="Fifo Lifo -*")}, known=known)

    assert found == [
        (
            "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: "
            "only one queue sort plugin can be enabled"
        )
    ]


def test_profiles_share_one_queue_sort():
    known = registry(plugin("Fifo", ["queueSort"]))
    other = {"schedulerName": "b", "plugins": plugins(queueSort="Fifo -*")}

    assert problems({"schedulerName": "a"}, other, known=known) == [
        (
            'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"Fifo","Weight":0}],'
            '"Disabled":[{"Name":"*","Weight":0}]}: must be the same for all profiles'
        )
    ]


def test_profiles_share_one_queue_sort_after_expansion():
    known = registry(plugin("Fifo", ["queueSort"]))
    other = {"schedulerName": "b", "plugins": plugins(multiPoint="Fifo -PrioritySort")}

    assert problems({"schedulerName": "a"}, other, known=known) == [
        (
            'profiles[1].plugins: different queue sort plugins for profile "b": '
            '"Fifo", first: "PrioritySort"'
        )
    ]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param(
            {},
            'profiles[1].pluginConfig: different queue sort plugin args for profile "b"; '
            "they must be the same for all profiles",
            id="by-multi-point",
        ),
        pytest.param(
            {"queueSort": "PrioritySort"},
            'profiles[1].pluginConfig.args: Invalid value: {"x":1}: '
            "queueSort must be the same for all profiles",
            id="listed",
        ),
    ],
)
def test_profiles_share_the_queue_sorts_arguments(points, expected):
    args = [{"name": "PrioritySort", "args": {"x": 1}}]
    first = {"schedulerName": "a", "plugins": plugins(**points)}

    found = problems(first, {**first, "schedulerName": "b", "pluginConfig": args})

    assert found == [expected]


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        pytest.param(
            [{"schedulerName": "a"}, {}], "profiles[1].schedulerName: Required value", id="missing"
        ),
        pytest.param(
            [{"schedulerName": ""}], "profiles[0].schedulerName: Required value", id="empty"
        ),
        pytest.param(
            [{"schedulerName": "a"}, {"schedulerName": "a"}],
            "profiles[1].schedulerName: Duplicate value: {}; profiles[0] has the same name",
            id="repeated",
        ),
        pytest.param(
            [{"percentageOfNodesToScore": 101}],
            "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
            id="percentage",
        ),
    ],
)
def test_profile_fields(profiles, expected):
    assert problems(*profiles) == [expected]


def test_plugins_that_podium_lacks_are_kept_apart():
    known = registry(without=["NodeName", "ImageLocality", "PrioritySort", "DefaultBinder"])

    found = profile(known, filter="-NodeName", score="ImageLocality=4")

    assert "ImageLocality" not in found.plugins[Point.SCORE]
    assert found.order_with_absent[Point.SCORE][0] == "ImageLocality"
    assert found.weights["ImageLocality"] == 4
    assert found.plugins[Point.BIND] == ()
    assert found.absent == {
        "NodeName": {Point.PRE_FILTER},
        "ImageLocality": {Point.SCORE},
        "PrioritySort": {Point.QUEUE_SORT},
        "DefaultBinder": {Point.BIND},
    }


def test_alpha_plugins_are_known_but_not_default():
    found = profile(Registry(), multiPoint="GangScheduling TopologyPlacementGenerator")

    assert found.absent["GangScheduling"] == {Point.PRE_ENQUEUE, Point.PERMIT}
    assert found.absent["TopologyPlacementGenerator"] == {Point.PLACEMENT_GENERATE}
    assert "PodGroupPodsCount" not in found.absent


def test_a_point_that_only_upstreams_plugin_has_may_be_listed():
    known = registry(plugin("DefaultPreemption", ["postFilter"]), without=["DefaultPreemption"])

    found = profile(known, preEnqueue="DefaultPreemption")

    assert found.plugins[Point.PRE_ENQUEUE] == ("SchedulingGates", "DynamicResources")
    assert found.absent == {}
