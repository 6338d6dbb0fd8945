import msgspec
import pytest

from podium import framework as fwk
from podium.framework.args import as_written, spelled_twice
from podium.framework.queued_pod import QueuedPod
from podium.testing.builders import pod


class Limits(fwk.Args, frozen=True):
    most: int = 3
    least: int = 1

    def validate(self):
        if self.least > self.most:
            yield fwk.Problem("least", f"must be at most {self.most}")


def test_fields_have_defaults():
    assert Limits() == Limits(most=3, least=1)
    assert msgspec.convert({"most": 5}, Limits) == Limits(most=5)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"mots": 5}, id="unknown-name"),
        pytest.param({"most": "5"}, id="wrong-type"),
    ],
)
def test_arguments_are_strict(data):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(data, Limits)


def test_arguments_may_check_themselves():
    assert list(Limits(most=0).validate()) == [fwk.Problem("least", "must be at most 0")]
    assert list(fwk.NoArgs().validate()) == []


def test_a_queued_pod_starts_untried():
    queued = QueuedPod.of(pod("web"), timestamp=5.0)

    assert (queued.pod.name, queued.timestamp, queued.attempts) == ("web", 5.0, 0)


class Weight(msgspec.Struct):
    for_zone: str
    of_pods: int = 1


class Spelled(fwk.Args, frozen=True):
    max_pods: int = 3
    zone_weights: tuple[Weight, ...] = ()
    by_zone: dict[str, Weight] = msgspec.field(default_factory=dict)
    or_none: Weight | None = None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"maxPods": 5}, {"max_pods": 5}, id="camel-case"),
        pytest.param({"max_pods": 5}, {"max_pods": 5}, id="snake-case"),
        pytest.param(
            {"max_pods": 5, "maxPods": 6}, {"max_pods": 5, "maxPods": 6}, id="both-are-left-alone"
        ),
        pytest.param({"maxpods": 5}, {"maxpods": 5}, id="unknown"),
        pytest.param(
            {"zoneWeights": [{"forZone": "a", "ofPods": 2}]},
            {"zone_weights": [{"for_zone": "a", "of_pods": 2}]},
            id="in-a-list",
        ),
        pytest.param(
            {"byZone": {"eastA": {"forZone": "a"}}},
            {"by_zone": {"eastA": {"for_zone": "a"}}},
            id="keys-of-mappings-stay",
        ),
        pytest.param({"orNone": {"forZone": "a"}}, {"or_none": {"for_zone": "a"}}, id="optional"),
        pytest.param({"zoneWeights": 7}, {"zone_weights": 7}, id="wrong-type"),
    ],
)
def test_configurations_may_use_camel_case(given, expected):
    assert as_written(given, Spelled) == expected


def test_a_field_in_both_spellings_is_found():
    assert list(spelled_twice({"max_pods": 5, "maxPods": 6, "byZone": {}}, Spelled)) == [
        ("max_pods", "maxPods")
    ]


def test_fields_that_are_camel_case_have_no_other_spelling():
    class Upstream(fwk.Args, frozen=True, rename="camel"):
        max_pods: int = 3

    assert as_written({"max_pods": 1}, Upstream) == {"max_pods": 1}
