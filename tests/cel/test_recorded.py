"""Every selector of the recorded decisions of kube-scheduler, on devices like the recorded ones."""

import pytest

from podium.cel import compile_selector, device_view
from podium.errors import EvaluationError
from podium.release import RELEASES

A100 = {
    "attributes": {
        "driverVersion": {"version": "2.0.0-rc.1"},
        "healthy": {"bool": False},
        "index": {"int": 0},
        "model": {"string": "a100"},
        "numa": {"int": 0},
        "type": {"string": "half"},
        "topology.example.com/rack": {"string": "r1"},
    },
    "capacity": {"memory": {"value": "80Gi"}},
    "allowMultipleAllocations": True,
}
T4 = {
    "attributes": {"index": {"int": 1}, "model": {"string": "t4"}, "type": {"string": "full"}},
    "capacity": {"memory": {"value": "16Gi"}, "tiles": {"value": "4"}},
}
OWN = 'device.attributes["gpu.example.com"]'
CAPACITY = 'device.capacity["gpu.example.com"]'

# What each selector says of the first device and of the second; a text is an error.
SELECTORS = [
    ('device.driver == "gpu.example.com"', True, True),
    ('device.driver == "nic.example.com"', False, False),
    ('device.driver.endsWith(".example.com")', True, True),
    (f'{OWN}.type == "small"', False, False),
    (f'{OWN}.type == "full"', False, True),
    (f'{OWN}.type in ["half", "full"]', True, True),
    (f'{OWN}.model == "a100"', True, False),
    (f'{OWN}.model != "t4"', True, False),
    (f'{OWN}.model in ["h100", "a100"]', True, False),
    (f'{OWN}.model.startsWith("a") || {OWN}.model.matches("^h[0-9]+$")', True, False),
    (f'{CAPACITY}.memory.compareTo(quantity("40Gi")) >= 0', True, False),
    (f'{CAPACITY}.memory.isLessThan(quantity("80Gi"))', False, True),
    (
        f'{CAPACITY}.memory.isGreaterThan(quantity("20Gi")) && {OWN}.model != "h100"',
        True,
        False,
    ),
    (f'{CAPACITY}.tiles.compareTo(quantity("1")) > 0', "no such key: tiles", True),
    (
        f'cel.bind(a, {OWN}, a.model == "h100" || a.index == 0)',
        True,
        False,
    ),
    (f"{OWN}.?healthy.orValue(true)", False, True),
    (f"!has({OWN}.healthy) || !{OWN}.healthy", True, True),
    (f"has({OWN}.healthy) && {OWN}.healthy", False, False),
    (f"{OWN}.healthy", False, "no such key: healthy"),
    (f"{OWN}.index % 2 == 0", True, False),
    (f"{OWN}.index == 1", False, True),
    (f"{OWN}.index < 2", True, True),
    (f'device.driver == "gpu.example.com" && {OWN}.numa == 0', True, "no such key: numa"),
    (f"has({OWN}.driverVersion) && {OWN}.driverVersion.major() == 2", True, False),
    (
        f'"driverVersion" in {OWN} && {OWN}.driverVersion.isGreaterThan(semver("1.9.0"))',
        True,
        False,
    ),
    (
        f'has({OWN}.driverVersion) && {OWN}.driverVersion.compareTo(semver("2.0.0")) < 0',
        True,
        False,
    ),
    ("device.allowMultipleAllocations", True, False),
    ("!device.allowMultipleAllocations", False, True),
    ('size(device.attributes["nothing.example.com"]) == 0', True, True),
    (f'{OWN}.missing == "x"', "no such key: missing", "no such key: missing"),
    ('device.attributes["nothing.example.com"].x == 1', "no such key: x", "no such key: x"),
    ('"rack" in device.attributes["topology.example.com"]', True, False),
    (
        'device.attributes["topology.example.com"].?rack.orValue("none") == "r1"',
        True,
        False,
    ),
]


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize("is_new", [False, True], ids=["stored", "new"])
@pytest.mark.parametrize(
    ("text", "first", "second"), SELECTORS, ids=[case[0] for case in SELECTORS]
)
def test_selector(release, is_new, text, first, second):
    selector = compile_selector(text, release, is_new=is_new)

    for device, expected in ((A100, first), (T4, second)):
        view = device_view("gpu.example.com", device, release)
        try:
            found = selector.matches(view)
        except EvaluationError as error:
            found = str(error)
        assert found == expected
