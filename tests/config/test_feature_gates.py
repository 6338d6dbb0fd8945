"""Which feature gates podium takes, and what it says about the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.config.feature_gates import (
    BOTH,
    GATES,
    OFF,
    ON,
    OTHER_COMPONENTS,
    FeatureGates,
    Stage,
    parse,
)
from podium.errors import ConfigError

every_gate = pytest.mark.parametrize("gate", GATES.values(), ids=lambda gate: gate.name)


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        pytest.param([], {}, id="none"),
        pytest.param(["OpportunisticBatching=false"], {"OpportunisticBatching": False}, id="off"),
        pytest.param(["StorageCapacityScoring=1"], {"StorageCapacityScoring": True}, id="on"),
        pytest.param(
            ["kube:NodeDeclaredFeatures = F"], {"NodeDeclaredFeatures": False}, id="component"
        ),
        pytest.param(
            ["StorageCapacityScoring=true", "StorageCapacityScoring=false"],
            {"StorageCapacityScoring": False},
            id="the-last-one-wins",
        ),
        pytest.param(
            ["SchedulerQueueingHints=true"], {"SchedulerQueueingHints": True}, id="locked-as-it-is"
        ),
        pytest.param(["EventedPLEG=true"], {}, id="of-another-component"),
    ],
)
def test_parse(settings, chosen):
    assert parse(settings) == FeatureGates(chosen)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        pytest.param("Foo=true", "unrecognized feature gate: Foo", id="unknown"),
        pytest.param(
            "storagecapacityscoring=true", 'did you mean "StorageCapacityScoring"?', id="spelling"
        ),
        pytest.param("Foo", "missing bool value for Foo", id="no-value"),
        pytest.param("", "missing bool value for", id="empty"),
        pytest.param(
            "OpportunisticBatching=maybe",
            "invalid value of OpportunisticBatching=maybe: must be true or false",
            id="no-boolean",
        ),
        pytest.param("wardle:Foo=true", "component not registered: wardle", id="component"),
        pytest.param(
            "SchedulerQueueingHints=false",
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
            id="locked",
        ),
        pytest.param(
            "GangScheduling=true", "GangScheduling=true: podium does not", id="not-implemented"
        ),
        pytest.param(
            "SchedulerAsyncPreemption=false",
            "SchedulerAsyncPreemption=false: podium cannot turn this feature off",
            id="always-on",
        ),
    ],
)
def test_what_cannot_be(setting, message):
    with pytest.raises(ConfigError) as raised:
        parse([setting])

    [problem] = raised.value.problems
    assert message in problem.message


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError, match="--feature-gates has 3 problems"):
        parse(["Foo=true", "GenericWorkload=true", "Bar"])


def test_all_of_a_stage_but_those_that_are_named():
    with pytest.raises(ConfigError) as raised:
        parse(["AllAlpha=true", "GangScheduling=false"])

    told = {problem.message.partition("=")[0] for problem in raised.value.problems}
    unsupported = {g.name for g in GATES.values() if g.stage is Stage.ALPHA and g.supported == OFF}
    assert told == unsupported - {"GangScheduling"}


def test_no_alpha_at_all_is_what_there_is_anyway():
    gates = parse(["AllAlpha=false"])

    assert all(gates.enabled(gate.name) is gate.is_on for gate in GATES.values())


@every_gate
def test_a_setting_is_accepted_if_it_is_supported(gate):
    for value in (True, False):
        setting = f"{gate.name}={value}"
        if value in gate.supported and not (gate.is_locked and value != gate.default):
            assert parse([setting]).enabled(gate.name) is value
        else:
            with pytest.raises(ConfigError, match=gate.name):
                parse([setting])


@every_gate
def test_what_is_on_is_supported(gate):
    assert gate.is_on in gate.supported
    assert gate.supported in (ON, OFF, BOTH)
    assert FeatureGates().enabled(gate.name) is gate.is_on


def test_other_components_have_gates_of_their_own():
    assert not OTHER_COMPONENTS & GATES.keys()


@given(st.lists(st.text() | st.sampled_from([f"{name}=true" for name in GATES])))
def test_whatever_is_given_is_taken_or_refused(settings):
    try:
        gates = parse(settings)
    except ConfigError:
        return
    assert all(gates.enabled(name) is value for name, value in gates.chosen.items())
