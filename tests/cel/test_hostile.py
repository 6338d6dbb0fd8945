"""Expressions that want to be too much: each ends soon, in an error or in a value."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.cel import compile_selector, device_view
from podium.cel.values import TOO_EXPENSIVE
from podium.errors import EvaluationError, InvalidExpression
from podium.release import LATEST

DEVICE = device_view("d", {"attributes": {"a": {"string": "x" * 64}, "n": {"int": 7}}}, LATEST)


def doubled(name, first, times):
    """``cel.bind(x1, first + first, cel.bind(x2, x1 + x1, ...``."""
    text, last = "", first
    for index in range(times):
        text += f"cel.bind({name}{index}, {last} + {last}, "
        last = f"{name}{index}"
    return text, last, ")" * times


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 5000 + "true" + ")" * 5000, id="parentheses"),
        pytest.param("[" * 3000 + "]" * 3000, id="lists"),
        pytest.param("{1:" * 3000 + "1" + "}" * 3000, id="maps"),
        pytest.param("true ? " * 3000 + "true" + ": true" * 3000, id="choices"),
        pytest.param("+".join(["1"] * 5000) + " == 1", id="sums"),
        pytest.param("device" + ".a" * 5000, id="fields"),
        pytest.param("device" + "[0]" * 5000, id="indexes"),
        pytest.param("f(" * 3000 + ")" * 3000, id="calls"),
        pytest.param("x" * 100_001, id="too-long"),
        pytest.param("9" * 20_000 + " == 1", id="digits"),
        pytest.param("1e" + "9" * 20_000 + " == 1.0", id="exponent"),
        pytest.param('"' + "\\u12" * 1000, id="escapes"),
        pytest.param("[1].all(x, " * 3000 + "true" + ")" * 3000, id="loops"),
    ],
)
def test_no_such_selector_compiles(text):
    with pytest.raises(InvalidExpression):
        compile_selector(text, LATEST)


def test_long_chains_of_terms_are_fine():
    selector = compile_selector(" && ".join(["device.driver == 'd'"] * 500), LATEST)
    assert selector.matches(DEVICE)
    assert compile_selector("!" * 1001 + "false", LATEST).matches(DEVICE)


@pytest.mark.parametrize("first", ["[1, 2]", "'ab'"], ids=["list", "text"])
def test_values_that_double_are_stopped(first):
    start, last, end = doubled("x", first, 60)
    selector = compile_selector(f"{start}size({last}) > 1{end}", LATEST)

    with pytest.raises(EvaluationError, match=TOO_EXPENSIVE):
        selector.matches(DEVICE)


def test_comparing_lists_that_share_their_parts_is_stopped():
    def nested(name, times=60):
        binds = "".join(
            f"cel.bind({name}{n}, [{name}{n - 1}, {name}{n - 1}], " for n in range(1, times)
        )
        return f"cel.bind({name}0, [dyn(1)], {binds}", f"{name}{times - 1}"

    left, a = nested("a")
    right, b = nested("b")
    selector = compile_selector(f"{left}{right}{a} == {b}{')' * 120}", LATEST)

    with pytest.raises(EvaluationError, match=TOO_EXPENSIVE):
        selector.matches(DEVICE)


def test_an_optional_value_that_is_mapped_often_is_evaluated_once():
    text = "optional.of(1)" + ".optMap(x, x + 1)" * 100 + ".orValue(0) == 101"

    assert compile_selector(text, LATEST).matches(DEVICE)


@pytest.mark.parametrize(
    "text",
    [
        "lists.range(1000001).size() > 1",
        "lists.range(100000).map(x, lists.range(100000).map(y, x * y)).size() > 1",
        f"device.attributes['d'].a.replace('x', '{'x' * 4000}').replace('x', '{'x' * 4000}') == ''",
    ],
)
def test_expensive_functions_are_stopped_or_end(text):
    assert answer(text)


SEEDS = [
    'device.attributes["d"].a == "x" && device.driver.startsWith("d")',
    "[1, 2u, 3.5].map(x, x * 2).exists(y, y > 1)",
    'cel.bind(v, device.attributes["d"], v.?a.orValue("") in ["x", "y"])',
    '{"a": [1, {true: null}]}.transformMap(k, v, v.size())["a"] == 2',
    "quantity('1Gi').compareTo(quantity(\"2Gi\")) < 0 ? semver('1.2.3').major() == 1 : false",
    "'%s and %d'.format(['é', 1]).split(' ', 2)[0].matches('^[a-z]+$')",
    "timestamp('2020-01-01T00:00:00Z') + duration('1h30m') > timestamp(0)",
    "optional.of(1).optMap(x, x + 1).hasValue() && !has(device.attributes.z)",
    "ip('1.2.3.4').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.1.1')",
    '-9223372036854775808 - 1 == b\'\\xff\'.size() || r\'\\d\' == """a\nb"""',
]
SIGNS = "()[]{}.,:?!+-*/%<>=&|'\"\\ \n\t@`#~é日"
WORDS = ["&&", "||", "==", "in", "true", "null", "1u", "9" * 19, "0x", "1e5", ".all(x, ", "has("]
NAMES = ["device", ".attributes", '["d"]', "dyn(", "cel.bind("]
PIECES = st.sampled_from([*SIGNS, *WORDS, *NAMES])


@st.composite
def mutated(draw):
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 8)))
        text = text[:start] + "".join(draw(st.lists(PIECES, max_size=3))) + text[end:]
    return text


def answer(text):
    """Return what comes of a selector as text; anything but an answer is raised."""
    try:
        return str(compile_selector(text, LATEST).matches(DEVICE))
    except (InvalidExpression, EvaluationError) as error:
        return str(error)


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_mutated_selectors_end_in_an_answer(text):
    assert answer(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_ends_in_an_answer(text):
    assert answer(text)
