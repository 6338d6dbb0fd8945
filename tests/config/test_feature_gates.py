"""Which feature gates each release has, which settings podium takes, and what it says otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.config.feature_gates import (
    BOTH,
    IMPLEMENTED_SINCE,
    OFF,
    ON,
    SUPPORTED,
    FeatureGates,
    Stage,
    gates_of,
    parse,
)
from podium.errors import ConfigError
from podium.release import RELEASES, V1_36, V1_37

OWN_GATES = [
    pytest.param(release, gates_of(release)[name], id=f"{release}-{name}")
    for release in RELEASES
    for name in SUPPORTED
    if name in gates_of(release)
]
every_gate = pytest.mark.parametrize(("release", "gate"), OWN_GATES)


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        pytest.param([], {}, id="none"),
        pytest.param(["OpportunisticBatching=false"], {"OpportunisticBatching": False}, id="off"),
        pytest.param(["StorageCapacityScoring=1"], {"StorageCapacityScoring": True}, id="on"),
        pytest.param(
            ["kube:OpportunisticBatching = F"], {"OpportunisticBatching": False}, id="component"
        ),
        pytest.param(
            ["StorageCapacityScoring=true", "StorageCapacityScoring=false"],
            {"StorageCapacityScoring": False},
            id="the-last-one-wins",
        ),
        pytest.param(
            ["PodSchedulingReadiness=true"], {"PodSchedulingReadiness": True}, id="locked-as-it-is"
        ),
        pytest.param(["EventedPLEG=true"], {}, id="of-another-component"),
        pytest.param(["NodeLogQuery=true"], {}, id="of-another-component-and-GA"),
    ],
)
def test_parse(settings, chosen):
    assert parse(settings) == FeatureGates(V1_37, chosen)


@pytest.mark.parametrize(
    ("release", "setting", "message"),
    [
        pytest.param(V1_37, "Foo=true", "unrecognized feature gate: Foo", id="unknown"),
        pytest.param(
            V1_37,
            "storagecapacityscoring=true",
            'did you mean "StorageCapacityScoring"?',
            id="spelling",
        ),
        pytest.param(V1_37, "Foo", "missing bool value for Foo", id="no-value"),
        pytest.param(V1_37, "", "missing bool value for", id="empty"),
        pytest.param(
            V1_37,
            "OpportunisticBatching=maybe",
            "invalid value of OpportunisticBatching=maybe: must be true or false",
            id="no-boolean",
        ),
        pytest.param(V1_37, "wardle:Foo=true", "component not registered: wardle", id="component"),
        pytest.param(
            V1_37,
            "NodeDeclaredFeatures=false",
            "cannot set feature gate NodeDeclaredFeatures to false, feature is locked to true",
            id="locked",
        ),
        pytest.param(
            V1_37,
            "NodeSwap=false",
            "cannot set feature gate NodeSwap to false, feature is locked to true",
            id="locked-in-another-component",
        ),
        pytest.param(
            V1_37,
            "DRADerivedAttributes=true",
            "DRADerivedAttributes=true: podium does not implement this feature",
            id="not-implemented",
        ),
        pytest.param(
            V1_37,
            "SchedulerQueueingHints=true",
            "unrecognized feature gate: SchedulerQueueingHints; it exists with "
            "--emulated-version=1.36",
            id="removed-in-1.37",
        ),
        pytest.param(
            V1_36,
            "SchedulerPreQueueingHints=true",
            "cannot set feature gate SchedulerPreQueueingHints to true, feature is PreAlpha at "
            "emulated version 1.36, min compatibility version 1.35",
            id="new-in-1.37",
        ),
    ],
)
def test_what_cannot_be(release, setting, message):
    with pytest.raises(ConfigError) as raised:
        parse([setting], release)

    [problem] = raised.value.problems
    assert message in problem.message


def test_a_gate_that_others_need_cannot_be_turned_off_alone():
    with pytest.raises(ConfigError) as raised:
        parse(["NodeDeclaredFeatures=false"], V1_36)

    told = {problem.message for problem in raised.value.problems}
    assert (
        "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are "
        "disabled: [NodeDeclaredFeatures]" in told
    )
    assert len(told) == 4


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError, match="--feature-gates has 3 problems"):
        parse(["Foo=true", "DRANodeAllocatableResources=true", "Bar"])


def test_a_feature_that_podium_implements_as_of_a_later_release():
    assert parse(["GenericWorkload=true"], V1_37).enabled("GenericWorkload")
    assert not parse(["GenericWorkload=false"], V1_36).enabled("GenericWorkload")
    with pytest.raises(ConfigError) as raised:
        parse(["GenericWorkload=true"], V1_36)

    [problem] = raised.value.problems
    assert problem.message == (
        "GenericWorkload=true: podium implements this feature as of Kubernetes 1.37, not of 1.36;"
        " remove the setting, or use --emulated-version=1.37"
    )


def test_composite_groups_need_groups_and_placements():
    given = ["CompositePodGroup=true", "GenericWorkload=true"]
    with pytest.raises(ConfigError) as raised:
        parse(given)
    [problem] = raised.value.problems
    assert problem.message == (
        "CompositePodGroup is enabled, but depends on features that are disabled: "
        "[TopologyAwareWorkloadScheduling]"
    )
    gates = parse([*given, "TopologyAwareWorkloadScheduling=true"])
    assert gates.enabled("CompositePodGroup")


def test_composite_groups_are_later_than_1_36():
    with pytest.raises(ConfigError, match="PreAlpha at emulated version"):
        parse(["CompositePodGroup=true"], V1_36)


def test_all_of_a_stage_but_those_that_are_named():
    with pytest.raises(ConfigError) as raised:
        parse(["AllAlpha=true", "DRANodeAllocatableResources=false"])

    told = {problem.message.partition("=")[0] for problem in raised.value.problems}
    alpha = [gate for gate in gates_of(V1_37).values() if gate.stage is Stage.ALPHA]
    assert told == {g.name for g in alpha if g.supported == OFF} - {"DRANodeAllocatableResources"}


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_no_alpha_at_all_is_what_there_is_anyway(release):
    gates = parse(["AllAlpha=false"], release)

    assert all(gates.enabled(name) is gate.is_on for name, gate in gates_of(release).items())


@every_gate
@pytest.mark.parametrize("value", [True, False])
def test_a_setting_is_accepted_if_it_is_supported(release, gate, value):
    wanted = {gate.name: value} | (_with(gate, release) if value else _without(gate, release))
    settings = [f"{name}={each}" for name, each in wanted.items()]
    if all(_is_accepted(gates_of(release)[name], each, release) for name, each in wanted.items()):
        assert parse(settings, release).enabled(gate.name) is value
    else:
        with pytest.raises(ConfigError):
            parse(settings, release)


def _is_accepted(gate, value, release):
    if value and IMPLEMENTED_SINCE.get(gate.name, release) > release:
        return False
    return value in gate.supported and (value == gate.default or not gate.is_locked)


def _with(gate, release):
    """Return what must be on for this gate."""
    found = {}
    for need in gate.needs:
        found |= {need: True} | _with(gates_of(release)[need], release)
    return found


def _without(gate, release):
    """Return what must be off when this gate is."""
    found = {}
    for other in gates_of(release).values():
        if gate.name in other.needs:
            found |= {other.name: False} | _without(other, release)
    return found


@every_gate
def test_what_is_on_is_supported(release, gate):
    assert gate.is_on in gate.supported
    assert gate.supported in (ON, OFF, BOTH)
    assert FeatureGates(release).enabled(gate.name) is gate.is_on


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_gate_of_podium_is_in_some_release(name):
    assert any(name in gates_of(release) for release in RELEASES)


@pytest.mark.parametrize(
    ("release", "name", "enabled"),
    [
        (V1_36, "StorageCapacityScoring", False),
        (V1_37, "StorageCapacityScoring", True),
        (V1_36, "SchedulerQueueingHints", True),
        (V1_37, "SchedulerQueueingHints", False),
    ],
)
def test_defaults_differ_by_release(release, name, enabled):
    assert FeatureGates(release).enabled(name) is enabled


@given(st.lists(st.text() | st.sampled_from([f"{name}=true" for name in SUPPORTED])))
def test_whatever_is_given_is_taken_or_refused(settings):
    try:
        gates = parse(settings)
    except ConfigError:
        return
    assert all(gates.enabled(name) is value for name, value in gates.chosen.items())
