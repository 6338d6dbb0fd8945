import msgspec
import pytest

from podium.plugins.node_resources_fit import NodeResourcesFit

RATIO = "RequestedToCapacityRatio"
SUPPORTED = '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'


def decoded(args):
    return msgspec.convert(args, NodeResourcesFit.Args)


def ratio(shape):
    return {"type": RATIO, "requestedToCapacityRatio": {"shape": shape}}


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({}, id="defaults"),
        pytest.param(
            {"ignoredResources": ["example.com/a"], "ignoredResourceGroups": ["example.com"]},
            id="ignored",
        ),
        pytest.param(
            {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu"}]}},
            id="weight-by-default",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": 0}, {"name": "memory", "weight": 100}],
                }
            },
            id="weight-0-is-1",
        ),
        pytest.param(
            {"scoringStrategy": ratio([{"utilization": 0, "score": 0}, {"utilization": 100}])},
            id="shape",
        ),
    ],
)
def test_good_args(args):
    assert list(decoded(args).validate()) == []


@pytest.mark.parametrize(
    ("args", "path", "message"),
    [
        pytest.param(
            {"scoringStrategy": {"resources": []}},
            "scoringStrategy.type",
            f'Unsupported value: "": supported values: {SUPPORTED}',
            id="a-strategy-names-its-type",
        ),
        pytest.param(
            {"scoringStrategy": {"type": "Least"}},
            "scoringStrategy.type",
            f'Unsupported value: "Least": supported values: {SUPPORTED}',
            id="unknown-type",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "memory"}, {"name": "cpu", "weight": 200}],
                }
            },
            "scoringStrategy.resources[1].weight",
            "Invalid value: 200: resource weight of cpu not in valid range (0, 100]",
            id="weight-too-high",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": -1}],
                }
            },
            "scoringStrategy.resources[0].weight",
            "Invalid value: -1: resource weight of cpu not in valid range (0, 100]",
            id="negative-weight",
        ),
        pytest.param(
            {"scoringStrategy": {"type": RATIO}},
            "scoringStrategy.requestedToCapacityRatio",
            f"Required value: must be specified when type is {RATIO}",
            id="ratio-without-shape",
        ),
        pytest.param(
            {"scoringStrategy": ratio([{"score": 1}]) | {"type": "MostAllocated"}},
            "scoringStrategy.requestedToCapacityRatio",
            f"Forbidden: must be nil when type is not {RATIO}",
            id="shape-without-ratio",
        ),
        pytest.param(
            {"scoringStrategy": ratio([])},
            "scoringStrategy.requestedToCapacityRatio.shape",
            "Required value: at least one point must be specified",
            id="empty-shape",
        ),
        pytest.param(
            {"ignoredResources": ["example.com/a", "-"]},
            "ignoredResources[1]",
            'Invalid value: "-": name part must consist of alphanumeric characters',
            id="resource-name",
        ),
        pytest.param(
            {"ignoredResourceGroups": ["example.com/a"]},
            "ignoredResourceGroups[0]",
            "Invalid value: \"example.com/a\": resource group name can't contain '/'",
            id="group-with-slash",
        ),
    ],
)
def test_bad_args(args, path, message):
    (problem,) = decoded(args).validate()

    assert problem.path == path
    assert problem.message.startswith(message)


def test_unknown_fields_are_refused():
    with pytest.raises(msgspec.ValidationError, match="ignoredResource"):
        decoded({"ignoredResource": ["example.com/a"]})
    with pytest.raises(msgspec.ValidationError, match="kind"):
        decoded({"scoringStrategy": {"kind": "LeastAllocated"}})
