"""VolumeBindingArgs, with and without StorageCapacityScoring."""

import pytest

from podium.config import from_value
from podium.errors import ConfigError
from podium.framework.registry import Registry
from podium.plugins import IN_TREE
from podium.plugins.volume.binding import ScoringVolumeBinding, VolumeBinding
from podium.plugins.volume.binding.args import MOST_FREE

POINTS = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
OFF = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
NEGATIVE = "Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value"


def registry(kind):
    others = [plugin for plugin in IN_TREE if plugin.name != kind.name]
    return Registry([*others, kind])


def loaded(kind, args):
    """The plugin's arguments as a configuration gives them."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": args}]}],
    }
    return from_value(config, registry(kind)).profiles[0].args["VolumeBinding"]


def test_defaults():
    assert loaded(VolumeBinding, {}).bind_timeout_seconds == 600
    assert loaded(VolumeBinding, {"bindTimeoutSeconds": 0}).bind_timeout_seconds == 0
    assert loaded(ScoringVolumeBinding, {}).shape == MOST_FREE


def test_the_shape_that_was_given():
    shape = loaded(ScoringVolumeBinding, {"shape": POINTS}).shape
    assert [(point.utilization, point.score) for point in shape] == [(0, 0), (100, 10)]


@pytest.mark.parametrize(
    ("kind", "args", "path", "message"),
    [
        pytest.param(
            VolumeBinding, {"bindTimeoutSeconds": -1}, "bindTimeoutSeconds", NEGATIVE, id="timeout"
        ),
        pytest.param(
            ScoringVolumeBinding,
            {"bindTimeoutSeconds": -1},
            "bindTimeoutSeconds",
            NEGATIVE,
            id="timeout-with-the-feature",
        ),
        pytest.param(VolumeBinding, {"shape": POINTS}, "shape", OFF, id="shape"),
        pytest.param(VolumeBinding, {"shape": []}, "shape", OFF, id="an-empty-shape"),
        pytest.param(
            ScoringVolumeBinding,
            {"shape": []},
            "shape",
            "at least one point must be specified",
            id="no-points",
        ),
        pytest.param(
            ScoringVolumeBinding,
            {"shape": POINTS[::-1]},
            "shape[1].utilization",
            "values must be sorted in increasing order",
            id="unsorted",
        ),
        pytest.param(
            ScoringVolumeBinding,
            {"shape": [{"utilization": 0, "score": 11}]},
            "shape[0].score",
            "not in valid range [0, 10]",
            id="score-too-high",
        ),
    ],
)
def test_what_is_refused(kind, args, path, message):
    with pytest.raises(ConfigError) as refused:
        loaded(kind, args)
    [problem] = refused.value.problems
    assert problem.path == f"profiles[0].pluginConfig[0].args.{path}"
    assert message in problem.message
