"""Arguments: decoded into each plugin's own type, checked, and completed."""

import pytest

from podium import app, config
from podium.config.feature_gates import parse
from podium.errors import ConfigError
from podium.framework.args import Args, NoArgs, Problem
from tests.support.configurations import FitArgs, Resource, plugin, registry

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FIT = "NodeResourcesFit"


class Needy(Args, frozen=True):
    label: str


class Faulty(Args, frozen=True):
    size: int = 0

    def validate(self):
        raise ZeroDivisionError(f"size {self.size}")


class Whole(Args, frozen=True):
    low: int = 0
    high: int = 0

    def validate(self):
        if self.low > self.high:
            yield Problem("", "low must not be above high")


KNOWN = registry(
    plugin("Needy", ["filter"], Needy),
    plugin("Faulty", ["filter"], Faulty),
    plugin("Whole", ["filter"], Whole),
    without=["PodTopologySpread"],
)


def load(*plugin_config, enabled="", **more):
    plugins = {"multiPoint": {"enabled": [{"name": name} for name in enabled.split()]}}
    profile = {"pluginConfig": list(plugin_config), "plugins": plugins}
    return config.from_value({**HEADER, "profiles": [profile], **more}, KNOWN)


def problems(*plugin_config, **more):
    with pytest.raises(ConfigError) as error:
        load(*plugin_config, **more)
    return [str(problem) for problem in error.value.problems]


def given(args, name=FIT):
    return {"name": name, "args": args}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({"name": FIT}, FitArgs(), id="no-args"),
        pytest.param(given(None), FitArgs(), id="null"),
        pytest.param(given({"percentage": 5}), FitArgs(percentage=5), id="field"),
        pytest.param(
            given({"resources": [{"name": "cpu"}]}),
            FitArgs(resources=(Resource(name="cpu"),)),
            id="nested",
        ),
        pytest.param(given({"kind": "NodeResourcesFitArgs"}), FitArgs(), id="kind-alone"),
        pytest.param(
            given({"apiVersion": HEADER["apiVersion"], "kind": "NodeResourcesFitArgs"}),
            FitArgs(),
            id="version-and-kind",
        ),
    ],
)
def test_args(entry, expected):
    assert load(entry).profiles[0].args[FIT] == expected


def test_every_enabled_plugin_that_podium_has_gets_args():
    (profile,) = load().profiles

    assert profile.args["NodeName"] == NoArgs()
    assert profile.args[FIT] == FitArgs()
    assert list(profile.args) == sorted(profile.args)
    assert "PodTopologySpread" not in profile.args  # absent
    assert "Whole" not in profile.args  # not enabled


@pytest.mark.parametrize("name", ["TaintToleration", "PodTopologySpread", "Unheard"])
def test_args_without_a_type_are_not_looked_at(name):
    assert load(given({"kind": "Anything", "x": [1]}, name))
    assert load(given("text", name))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(
            [given({"percentag": 1})],
            '[0].args.percentag: unknown field "percentag"; did you mean "percentage"?',
            id="unknown-field",
        ),
        pytest.param(
            [given({"kind": "InterPodAffinityArgs", "x": 1})],
            "[0].args.kind: args for plugin NodeResourcesFit were not of type "
            "NodeResourcesFitArgs.kubescheduler.config.k8s.io, "
            "got InterPodAffinityArgs.kubescheduler.config.k8s.io",
            id="other-kind",
        ),
        pytest.param(
            [given({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"})],
            '[0].args.apiVersion: no kind "NodeResourcesFitArgs" is registered for version '
            '"kubescheduler.config.k8s.io/v1beta3"; use "kubescheduler.config.k8s.io/v1"',
            id="other-version",
        ),
        pytest.param(
            [given([])], "[0].args: Invalid value: []: must be an object", id="not-an-object"
        ),
        pytest.param(
            [given({"percentage": 101})],
            "[0].args.percentage: Invalid value: 101: not in valid range [0, 100]",
            id="its-own-validation",
        ),
        pytest.param(
            [given({"low": 2}, "Whole")],
            "[0].args: low must not be above high",
            id="disabled-plugins-args-are-checked-too",
        ),
        pytest.param(
            [given({"size": 3}, "Faulty")],
            "[0].args: checking the args raised ZeroDivisionError: size 3",
            id="an-authors-fault",
        ),
        pytest.param(
            [{"name": FIT}, {"name": FIT}],
            '[1]: Duplicate value: "NodeResourcesFit"',
            id="two-entries",
        ),
        pytest.param(
            [{"name": "GCEPDLimits"}],
            '[0]: Invalid value: "GCEPDLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1"); '
            "NodeVolumeLimits counts these volumes now",
            id="rejected-name",
        ),
    ],
)
def test_refused(entries, expected):
    assert problems(*entries) == [f"profiles[0].pluginConfig{expected}"]


def test_all_problems_of_all_args_at_once():
    found = problems(given({"percentage": "x", "resources": [{}]}), given({"low": 1}, "Whole"))

    assert [problem.partition(": ")[0] for problem in found] == [
        "profiles[0].pluginConfig[0].args.percentage",
        "profiles[0].pluginConfig[0].args.resources[0].name",
        "profiles[0].pluginConfig[1].args",
    ]


def test_required_args_that_are_not_given():
    assert problems(enabled="Needy") == [
        'profiles[0].pluginConfig: args of plugin "Needy": label: Required value'
    ]


def extender(*resources, ignored=True):
    names = [{"name": name, "ignoredByScheduler": ignored} for name in resources]
    return {"urlPrefix": "http://x", "managedResources": names}


def test_resources_of_extenders_replace_the_ignored_ones():
    extenders = [extender("a.io/x"), extender("a.io/y", ignored=False), extender("a.io/z")]

    loaded = load(given({"ignoredResources": ["b.io/w"], "percentage": 7}), extenders=extenders)

    expected = FitArgs(ignored_resources=("a.io/x", "a.io/z"), percentage=7)
    assert loaded.profiles[0].args[FIT] == expected


def test_without_such_resources_the_ignored_ones_stay():
    loaded = load(
        given({"ignoredResources": ["b.io/w"]}), extenders=[extender("a.io/x", ignored=False)]
    )

    assert loaded.profiles[0].args[FIT] == FitArgs(ignored_resources=("b.io/w",))


def test_resources_of_extenders_need_the_fit_plugin():
    value = {
        **HEADER,
        "extenders": [extender("a.io/x")],
        "profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": FIT}]}}}],
    }

    with pytest.raises(ConfigError, match="can't find NodeResourcesFitArgs in plugin config"):
        config.from_value(value, KNOWN)


CONDITIONS_OFF = (
    "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
)


@pytest.mark.parametrize(
    ("gate", "given", "expected"),
    [
        pytest.param(
            "DRASchedulerFilterTimeout",
            {"filterTimeout": "10s"},
            ["filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled"],
            id="filter-timeout",
        ),
        pytest.param(
            "DRADeviceBindingConditions",
            {"filterTimeout": "5s", "bindingTimeout": "-1s"},
            ["bindingTimeout: Forbidden: " + CONDITIONS_OFF],
            id="binding-timeout",
        ),
        pytest.param("DRASchedulerFilterTimeout", {"filterTimeout": None}, [], id="null"),
        pytest.param("DRASchedulerFilterTimeout", {"bindingTimeout": "9s"}, [], id="other"),
        pytest.param("DRAConsumableCapacity", {"filterTimeout": "1s"}, [], id="other-gate"),
    ],
)
def test_arguments_without_their_feature_gate(gate, given, expected):
    args = {"name": "DynamicResources", "args": given}
    value = {**HEADER, "profiles": [{"pluginConfig": [args]}]}
    found = []
    try:
        config.from_value(value, app.in_tree(), gates=parse([f"{gate}=false"]))
    except ConfigError as error:
        found = [str(problem) for problem in error.problems]

    where = "profiles[0].pluginConfig[0].args."
    assert found == [where + each for each in expected]
