"""Which attributes a selector may read the values of."""

import pytest

from podium.cel import compile_selector
from podium.release import V1_37

ALL = None


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param("true", set(), id="none"),
        pytest.param('device.driver == "gpu.example.com"', set(), id="driver"),
        pytest.param(
            'device.capacity["d.com"].memory.isGreaterThan(quantity("1Gi"))', set(), id="capacity"
        ),
        pytest.param('device.attributes["d.com"].model == "a"', {"model"}, id="selected"),
        pytest.param('device.attributes["d.com"]["model"] == "a"', {"model"}, id="indexed"),
        pytest.param('has(device.attributes["d.com"].model)', {"model"}, id="tested"),
        pytest.param(
            'device.attributes["d.com"].?model.orValue("") == "a"', {"model"}, id="optional"
        ),
        pytest.param(
            'device.attributes[?"d.com"].?model.orValue("") == "a"', {"model"}, id="optional-domain"
        ),
        pytest.param(
            'device.attributes["d.com"].a == device.attributes["e.com"].b', {"a", "b"}, id="two"
        ),
        pytest.param('device.attributes["d.com"].name.startsWith("a")', {"name"}, id="called"),
        pytest.param('"model" in device.attributes["d.com"]', set(), id="key-exists"),
        pytest.param('"d.com" in device.attributes', set(), id="domain-exists"),
        pytest.param('device.attributes["d.com"]["mo" + "del"] == "a"', ALL, id="computed-name"),
        pytest.param('device.attributes[device.driver].model == "a"', {"model"}, id="any-domain"),
        pytest.param('device.attributes["d.com"].exists(k, k == "a")', ALL, id="loop"),
        pytest.param('cel.bind(a, device.attributes["d.com"], a.model == "a")', ALL, id="variable"),
        pytest.param('device.attributes["d.com"] == {"model": "a"}', ALL, id="whole-domain"),
        pytest.param('size(device.attributes["d.com"]) == 1', ALL, id="function-of-domain"),
        pytest.param("size(device.attributes) == 1", ALL, id="function-of-attributes"),
        pytest.param("[device].size() == 1", ALL, id="device-handed-on"),
    ],
)
def test_attributes_read(selector, expected):
    found = compile_selector(selector, V1_37).attributes

    assert found == expected
