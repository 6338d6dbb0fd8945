import msgspec
import pytest

from podium import framework as fwk
from podium.framework.queued_pod import QueuedPod
from tests.support.builders import pod


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
