"""Values against the types that authors may declare: what fits, and all that does not."""

from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
import pytest

from podium.config.decode import decode
from podium.config.problems import Problems
from podium.durations import Duration


class Colour(Enum):
    RED = "Red"


class Inner(msgspec.Struct, frozen=True):
    name: str
    size: int = 1


class Pair(msgspec.Struct, frozen=True, array_like=True):
    low: int
    high: int


class Everything(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    flag: bool = False
    count: int = 0
    small: Annotated[int, msgspec.Meta(ge=0, le=9)] = 0
    ratio: float = 0.0
    text: str = ""
    short: Annotated[str, msgspec.Meta(max_length=3)] = ""
    timeout_seconds: Duration = 1.0
    mode: Literal["On", "Off"] = "On"
    colour: Colour = Colour.RED
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()
    by_name: dict[str, int] = {}
    point: tuple[int, str] = (0, "")
    pair: Pair | None = None
    either: int | str = 0
    data: bytes = b""
    anything: Any = None


def problems_of(value):
    problems = Problems()
    decode(value, Everything, "args", problems)
    return [str(problem) for problem in problems.found]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({}, Everything(), id="defaults"),
        pytest.param({"flag": None, "inner": None}, Everything(), id="null-is-not-given"),
        pytest.param({"count": 3.0}, Everything(count=3), id="whole-float"),
        pytest.param({"ratio": 2}, Everything(ratio=2.0), id="int-for-float"),
        pytest.param({"timeoutSeconds": "1m"}, Everything(timeout_seconds=60.0), id="duration"),
        pytest.param({"inner": {"name": "a"}}, Everything(inner=Inner("a")), id="struct"),
        pytest.param({"byName": {"a": 1}}, Everything(by_name={"a": 1}), id="map"),
        pytest.param({"point": [1, "a"]}, Everything(point=(1, "a")), id="fixed-tuple"),
        pytest.param({"pair": [1, 2]}, Everything(pair=Pair(1, 2)), id="array-like"),
        pytest.param({"either": "a"}, Everything(either="a"), id="union"),
        pytest.param({"data": "aGk="}, Everything(data=b"hi"), id="base64"),
        pytest.param({"anything": [1, {"a": 2}]}, Everything(anything=[1, {"a": 2}]), id="any"),
    ],
)
def test_what_fits(value, expected):
    assert (problems_of(value), decode(value, Everything, "", Problems())) == ([], expected)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "args: Invalid value: []: must be an object"),
        ({"flag": "true"}, 'args.flag: Invalid value: "true": must be true or false'),
        ({"count": True}, "args.count: Invalid value: true: must be an integer"),
        ({"count": "3"}, 'args.count: Invalid value: "3": must be an integer'),
        ({"count": 1.5}, "args.count: Invalid value: 1.5: must be an integer"),
        ({"count": float("nan")}, "args.count: Invalid value: NaN: must be an integer"),
        (
            {"count": 1e30},
            (
                "args.count: Invalid value: 1e+30: must be an integer "
                "from -9223372036854775808 to 9223372036854775807"
            ),
        ),
        ({"small": 10}, "args.small: Invalid value: 10: must be an integer from 0 to 9"),
        ({"ratio": float("inf")}, "args.ratio: Invalid value: +Inf: must be a finite number"),
        ({"text": 5}, "args.text: Invalid value: 5: must be a string, in quotes"),
        ({"short": "long"}, 'args.short: Invalid value: "long": expected `str` of length <= 3'),
        (
            {"timeoutSeconds": 5},
            ('args.timeoutSeconds: Invalid value: 5: must be a duration such as "15s" or "1m30s"'),
        ),
        (
            {"mode": "on"},
            'args.mode: Unsupported value: "on": supported values: "On", "Off"',
        ),
        ({"colour": "Blue"}, 'args.colour: Unsupported value: "Blue": supported values: "Red"'),
        ({"inner": {"nam": 1}}, 'args.inner.nam: unknown field "nam"; did you mean "name"?'),
        ({"inner": {}}, "args.inner.name: Required value"),
        ({"inners": {}}, "args.inners: Invalid value: {}: must be a list"),
        ({"inners": [{"name": "a"}, 1]}, "args.inners[1]: Invalid value: 1: must be an object"),
        ({"byName": {"a": "x"}}, 'args.byName.a: Invalid value: "x": must be an integer'),
        ({"point": [1, 2]}, "args.point[1]: Invalid value: [1,2]: expected `str`, got `int`"),
        ({"Count": 1}, 'args.Count: unknown field "Count"; did you mean "count"?'),
        ({"data": "&"}, 'args.data: Invalid value: "&": invalid base64 encoded string'),
    ],
)
def test_what_does_not_fit(value, problem):
    assert problem in problems_of(value)


def test_all_problems_are_found_at_once():
    value = {"flag": 1, "inners": [{"name": 1}, {"size": "x", "name": "b"}], "Text": "", "count": 2}

    assert problems_of(value) == [
        "args.flag: Invalid value: 1: must be true or false",
        "args.inners[0].name: Invalid value: 1: must be a string, in quotes",
        'args.inners[1].size: Invalid value: "x": must be an integer',
        'args.Text: unknown field "Text"; did you mean "text"?',
    ]


def test_what_fits_is_kept_beside_what_does_not():
    decoded = decode({"count": 2, "flag": 1, "inners": [1]}, Everything, "", Problems())

    assert decoded == Everything(count=2)
