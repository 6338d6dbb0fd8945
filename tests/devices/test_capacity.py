import msgspec
import pytest

from podium.api.devices import DeviceCapacity
from podium.devices.capacity import consumption
from podium.errors import AllocationError
from podium.release import RELEASES, V1_36, V1_37
from tests.support.devices import rules


def capacity(value, **policy):
    given = {"value": value, **({"requestPolicy": policy} if policy else {})}
    return {"memory": msgspec.convert(given, DeviceCapacity)}


def steps(least="1Gi", most="8Gi", step="1Gi", default="1Gi"):
    return {"default": default, "validRange": {"min": least, "max": most, "step": step}}


def values(*allowed, default="1Gi"):
    return {"default": default, "validValues": list(allowed)}


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize(
    ("request_", "policy", "expected"),
    [
        pytest.param(None, {}, "10Gi", id="no-request-and-no-policy-takes-everything"),
        pytest.param("3Gi", {}, "3Gi", id="without-a-policy-as-requested"),
        pytest.param(None, steps(), "1Gi", id="no-request-takes-the-default"),
        pytest.param("512Mi", steps(), "1Gi", id="raised-to-the-least"),
        pytest.param("2Gi", steps(), "2Gi", id="on-the-grid"),
        pytest.param("2049Mi", steps(), "3Gi", id="rounded-up-to-the-next-step"),
        pytest.param("9Gi", steps(), None, id="above-the-most"),
        pytest.param("2Gi", values("1Gi", "4Gi"), "4Gi", id="the-next-valid-value"),
        pytest.param("4Gi", values("1Gi", "4Gi"), "4Gi", id="a-valid-value"),
        pytest.param("5Gi", values("1Gi", "4Gi"), None, id="above-all-valid-values"),
        pytest.param("3Gi", {"default": "1Gi"}, "3Gi", id="a-default-alone-allows-anything"),
        pytest.param(
            "1025Mi",
            {"default": "1Gi", "validRange": {"min": "1Gi"}},
            "1025Mi",
            id="a-range-without-steps",
        ),
    ],
)
def test_what_a_request_consumes(request_, policy, expected, release):
    requests = {} if request_ is None else {"memory": request_}

    found = consumption(requests, capacity("10Gi", **policy), rules(release))

    assert (found and found.written["memory"]) == expected


@pytest.mark.parametrize(
    ("release", "step", "expected"),
    [
        pytest.param(V1_36, "1k", "2Ki", id="1.36-writes-binary"),
        pytest.param(V1_37, "1k", "2048", id="1.37-writes-as-the-step"),
    ],
)
def test_how_a_rounded_amount_is_written(release, step, expected):
    policy = {"default": "24", "validRange": {"min": "48", "step": step}}

    found = consumption({"memory": "1500"}, capacity("10k", **policy), rules(release))

    assert found.written == {"memory": expected}


@pytest.mark.parametrize(
    ("release", "features", "expected"),
    [
        pytest.param(V1_36, {}, None, id="1.36-counts-in-whole-units"),
        pytest.param(V1_37, {}, "300m", id="1.37-counts-in-thousandths"),
        pytest.param(V1_37, {"fractional_capacity_range": False}, None, id="1.37-feature-off"),
    ],
)
def test_fractions(release, features, expected):
    policy = {"default": "200m", "validRange": {"min": "200m", "max": "900m", "step": "100m"}}

    found = consumption({"memory": "250m"}, capacity("1", **policy), rules(release, **features))

    assert (found and found.written["memory"]) == expected


def test_the_default_is_recognized_by_how_it_is_written():
    allowed = {"default": "1", "validValues": ["2"]}

    same = consumption({}, capacity("4", **allowed), rules())
    other = consumption({"memory": "1000m"}, capacity("4", default="1", validValues=[]), rules())

    assert same.written == {"memory": "1"}
    assert other.written == {"memory": "1000m"}


def test_a_default_written_differently_must_obey_the_range():
    policy = {"default": "1", "validRange": {"max": "500m"}}

    assert consumption({"memory": "1"}, capacity("4", **policy), rules()) is not None
    assert consumption({"memory": "1000m"}, capacity("4", **policy), rules()) is None


def test_an_unknown_capacity_cannot_be_served():
    assert consumption({"cores": "1"}, capacity("1"), rules()) is None


@pytest.mark.parametrize(
    ("request_", "policy", "expected"),
    [
        pytest.param("-1", {}, 'capacity "memory": capacity value is negative', id="negative"),
        pytest.param(
            "18446744073709551619",
            {"default": "0", "validRange": {"min": "0", "step": "3"}},
            'capacity "memory": capacity request cannot be represented in the device\'s range '
            "arithmetic: request 18446744073709551619 is not a representable milli value",
            id="more-than-milli",
        ),
        pytest.param(
            "9223372036854775807m",
            {"default": "100m", "validRange": {"min": "100m", "step": "100m"}},
            'capacity "memory": capacity request cannot be represented in the device\'s range '
            "arithmetic: rounding request 9223372036854775807m up to the next step passes the "
            "milli-value range",
            id="rounded-beyond-milli",
        ),
        pytest.param(
            "18446744073709551619",
            {"default": "0", "validRange": {"min": "0", "step": "9223372036854775807"}},
            'capacity "memory": capacity request cannot be represented in the device\'s range '
            "arithmetic: request 18446744073709551619 exceeds MaxInt64",
            id="more-than-64-bits",
        ),
        pytest.param(
            "9223372036854775807",
            {"default": "0", "validRange": {"min": "0", "step": "9223372036854775806"}},
            'capacity "memory": capacity request cannot be represented in the device\'s range '
            "arithmetic: rounding request 9223372036854775807 up to the next step passes MaxInt64",
            id="rounded-beyond-64-bits",
        ),
    ],
)
def test_requests_that_no_device_can_serve(request_, policy, expected):
    given = capacity("1E", **policy)

    with pytest.raises(AllocationError) as raised:
        consumption({"memory": request_}, given, rules(V1_37))

    assert str(raised.value) == expected


def test_shares_add_up():
    found = consumption({"memory": "3Gi"}, capacity("10Gi"), rules())
    held, chosen = {"memory": 4 * 2**30 * 10**9}, {"memory": 3 * 2**30 * 10**9}

    assert found.fits(held, chosen)
    assert not found.fits(held, {"memory": chosen["memory"] + 1})
