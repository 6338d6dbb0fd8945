import pytest

from podium.framework.registry import Registry
from podium.plugins.dynamic_resources import DynamicResources


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, [], id="defaults"),
        pytest.param({"filter_timeout": 0.0, "binding_timeout": 1.0}, [], id="smallest"),
        pytest.param(
            {"filter_timeout": -1.0},
            [("filterTimeout", "Invalid value: -1s: must be zero or positive")],
            id="negative-filter-timeout",
        ),
        pytest.param(
            {"binding_timeout": 0.5},
            [("bindingTimeout", "Invalid value: 500ms: must be at least 1 second")],
            id="short-binding-timeout",
        ),
    ],
)
def test_args(args, expected):
    found = DynamicResources.Args(**args).validate()

    assert [(problem.path, problem.message) for problem in found] == expected


def test_registers_at_its_points():
    points = Registry([DynamicResources]).points("DynamicResources")

    assert {point.value for point in points} == {
        "preEnqueue", "preFilter", "filter", "postFilter", "score", "reserve", "preBind"
    }  # fmt: skip
