"""Selectors of devices: what upstream's own cases expect, with costs and errors."""

import pytest

from podium.cel import compile_selector, device_view, with_hint
from podium.errors import EvaluationError, InvalidExpression
from podium.release import RELEASES, V1_36, V1_37

DRIVER = "dra.example.com"
ATTRIBUTES = f'device.attributes["{DRIVER}"]'
CAPACITY = f'device.capacity["{DRIVER}"]'


def view(release=V1_37, driver=DRIVER, shared=None, capacity=None, **attributes):
    """``view(name={"bool": True}, capacity={"memory": "1Mi"})``."""
    device = {
        "attributes": attributes,
        "capacity": {name: {"value": value} for name, value in (capacity or {}).items()},
    }
    if shared is not None:
        device["allowMultipleAllocations"] = shared
    return device_view(driver, device, release)


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize(
    ("text", "device", "cost", "expected"),
    [
        pytest.param("true", {}, 0, True, id="true"),
        pytest.param("false", {}, 0, False, id="false"),
        pytest.param('"no-such-domain" in device.attributes', {}, 3, False, id="no-domain"),
        pytest.param(f'"{DRIVER}" in device.attributes', {"a": {"int": 1}}, 3, True, id="domain"),
        pytest.param('device.driver == ""', {"driver": ""}, 2, True, id="no-driver"),
        pytest.param(f'device.driver == "{DRIVER}"', {}, 4, True, id="driver"),
        pytest.param(f"{ATTRIBUTES}.name", {"name": {"bool": True}}, 4, True, id="bool"),
        pytest.param(f'{ATTRIBUTES}["name"]', {"name": {"bool": True}}, 4, True, id="by-key"),
        pytest.param(
            f"cel.bind(dra, {ATTRIBUTES}, dra.name)", {"name": {"bool": True}}, 15, True, id="bind"
        ),
        pytest.param(
            'device.attributes["other.example.com"].name',
            {"other.example.com/name": {"bool": True}},
            4,
            True,
            id="another-domain",
        ),
        pytest.param(f"{ATTRIBUTES}.name > 0", {"name": {"int": 1}}, 5, True, id="int"),
        pytest.param(
            f'{ATTRIBUTES}.name == "fish"', {"name": {"string": "fish"}}, 5, True, id="string"
        ),
        pytest.param(
            f'{ATTRIBUTES}.name.isGreaterThan(semver("0.0.1"))',
            {"name": {"version": "1.0.0"}},
            6,
            True,
            id="version",
        ),
        pytest.param(
            f'{ATTRIBUTES}.name.isGreaterThan(semver("v0.0.1", true)) && isSemver("v1.0.0", true)',
            {"name": {"version": "1.0.0"}},
            7,
            True,
            id="version-with-v",
        ),
        pytest.param(
            f'{CAPACITY}.name.isGreaterThan(quantity("1Ki"))',
            {"capacity": {"name": "1Mi"}},
            6,
            True,
            id="quantity",
        ),
        pytest.param(
            f'"name" in {CAPACITY} && {CAPACITY}.name.isGreaterThan(quantity("1Ki"))',
            {"capacity": {"name": "1Mi"}},
            10,
            True,
            id="guarded",
        ),
        pytest.param(
            f'!("name" in {CAPACITY}) || {CAPACITY}.name.isGreaterThan(quantity("1Ki"))',
            {},
            11,
            True,
            id="guarded-and-absent",
        ),
        pytest.param(
            f"{ATTRIBUTES}.a && {ATTRIBUTES}.b && {ATTRIBUTES}.c",
            {"a": {"bool": True}, "b": {"bool": True}, "c": {"bool": True}},
            12,
            True,
            id="many",
        ),
        pytest.param(
            f'device.attributes.exists_one(x, x == "{DRIVER}")',
            {"a": {"string": "b"}},
            164,
            True,
            id="domains",
        ),
        pytest.param(
            f'{ATTRIBUTES}.exists_one(x, x == "services")',
            {"services": {"string": "b"}},
            133,
            True,
            id="names",
        ),
        pytest.param(
            f'device.capacity.exists_one(x, x == "{DRIVER}")',
            {"capacity": {"memory": "1Mi"}},
            164,
            True,
            id="domains-of-capacities",
        ),
        pytest.param(
            f'{CAPACITY}.exists_one(x, x == "memory")',
            {"capacity": {"memory": "1Mi"}},
            133,
            True,
            id="names-of-capacities",
        ),
        pytest.param(
            f'{ATTRIBUTES}.services.split("example").size() >= 2',
            {"services": {"string": "some_example_value"}},
            19,
            True,
            id="split",
        ),
        pytest.param(
            f'{ATTRIBUTES}.services.matches("[^a]?sym")',
            {"services": {"string": "asymetric"}},
            18,
            True,
            id="regex",
        ),
        pytest.param(
            "device.allowMultipleAllocations == true", {"shared": True}, 3, True, id="shared"
        ),
        pytest.param("device.allowMultipleAllocations == false", {}, 3, True, id="not-shared"),
    ],
)
def test_matches_and_costs(release, text, device, cost, expected):
    selector = compile_selector(text, release)

    assert selector.cost == cost
    assert selector.matches(view(release, **device)) is expected


def test_all_kinds_of_values_in_one_selector():
    parts = []
    for access in (".{}", '["{}"]'):
        parts += [
            CAPACITY + access.format("quantity") + '.isGreaterThan(quantity("1Ki"))',
            ATTRIBUTES + access.format("bool"),
            ATTRIBUTES + access.format("int") + " > 0",
            ATTRIBUTES + access.format("string") + ' == "fish"',
            ATTRIBUTES + access.format("version") + '.isGreaterThan(semver("0.0.1"))',
        ]
    selector = compile_selector("\n&& ".join(parts), V1_37)
    device = view(
        bool={"bool": True},
        int={"int": 1},
        string={"string": "fish"},
        version={"version": "1.0.0"},
        capacity={"quantity": "1Mi"},
    )

    assert selector.cost == 52
    assert selector.matches(device) is True


@pytest.mark.parametrize(
    ("text", "attribute", "cost", "expected"),
    [
        pytest.param("{}.size() == 2", {"strings": ["fish", "bird"]}, 6, True, id="strings"),
        pytest.param("{}.size() == 2", {"versions": ["1.0.0", "2.0.0"]}, 6, True, id="versions"),
        pytest.param("{}.exists(x, x > 0)", {"ints": [1, 2]}, 5 + 6 * 64, True, id="exists"),
        pytest.param('{}.all(x, x != "")', {"strings": ["a"]}, 5 + 4 * 64, True, id="all"),
        pytest.param(
            '{}.all(x, x.isGreaterThan(semver("0.0.1")))',
            {"versions": ["1.0.0"]},
            5 + 6 * 64,
            True,
            id="all-versions",
        ),
        pytest.param("{}.includes(true)", {"bools": [True, False]}, 68, True, id="includes"),
        pytest.param("{}.includes(1)", {"int": 2}, 68, False, id="includes-one-value"),
        pytest.param('{}.includes("cat")', {"strings": ["fish"]}, 68, False, id="not-included"),
        pytest.param(
            '{}.includes(semver("1.0.0"))', {"version": "1.0.0"}, 69, True, id="includes-version"
        ),
        pytest.param("1 in {}", {"ints": [1, 2, 3]}, 68, True, id="in"),
    ],
)
def test_lists_of_values_since_1_37(text, attribute, cost, expected):
    selector = compile_selector(text.format(f"{ATTRIBUTES}.names"), V1_37)

    assert selector.cost == cost
    assert selector.matches(view(names=attribute)) is expected


@pytest.mark.parametrize(
    ("text", "device", "message"),
    [
        pytest.param(
            'device.attributes["none"].x.isGreaterThan(quantity("0"))',
            {},
            "no such key: x",
            id="unknown-domain",
        ),
        pytest.param(f'{ATTRIBUTES}["x"] == 1', {}, "no such key: x", id="unknown-name"),
        pytest.param(
            f"{ATTRIBUTES}.a < 1", {"a": {"string": "1"}}, "no such overload", id="other-type"
        ),
        pytest.param(
            f'{ATTRIBUTES}.a.startsWith("x")',
            {"a": {"int": 1}},
            "no such overload",
            id="no-method",
        ),
        pytest.param(
            f'{ATTRIBUTES}.a == "1.0.0"',
            {"a": {"version": "1.0.0"}},
            "no such overload",
            id="version-is-no-text",
        ),
        pytest.param(
            f"{ATTRIBUTES}.a", {"a": {"int": 1}},
            "CEL result of type int could not be converted to bool: "
            "unsupported type conversion from 'int' to bool",
            id="not-a-bool",
        ),
        pytest.param(
            "true",
            {"a": {"version": "1.0"}},
            "attribute a: parse semantic version: No Major.Minor.Patch elements found",
            id="bad-version",
        ),
        pytest.param("true", {"a": {}}, "attribute a: unsupported attribute value", id="no-value"),
        pytest.param(
            f"{ATTRIBUTES}.a % 0 == 1", {"a": {"int": 1}}, "modulus by zero", id="modulus"
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_evaluation_errors(release, text, device, message):
    selector = compile_selector(text, release)

    with pytest.raises(EvaluationError) as caught:
        selector.matches(view(release, **device))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("kind", "name"),
    [("int", "types.Int"), ("bool", "types.Bool"), ("string", "types.String")],
)
def test_a_loop_needs_a_list(kind, name):
    selector = compile_selector(f"{ATTRIBUTES}.a.exists(x, x == true)", V1_37)
    value = {"int": 1, "bool": True, "string": "a"}[kind]

    with pytest.raises(EvaluationError, match=f"got '{name}', expected iterable type"):
        selector.matches(view(a={kind: value}))


def test_an_expensive_selector_is_stopped():
    loops = "".join(f"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x{n}, " for n in range(7))
    selector = compile_selector(loops + "int('1'.find('[0-9]*')) < 100" + ")" * 7, V1_37)

    assert selector.cost == 85555551
    with pytest.raises(EvaluationError) as caught:
        selector.matches(view())
    assert str(caught.value) == "operation cancelled: actual cost limit exceeded"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("1", "must evaluate to bool or the unknown type, not int", id="int"),
        pytest.param(
            "device.foo",
            "compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n"
            " | device.foo\n"
            " | ......^",
            id="unknown-field",
        ),
        pytest.param(
            "foo.bar",
            "compilation failed: ERROR: <input>:1:1: "
            "undeclared reference to 'foo' (in container '')\n"
            " | foo.bar\n"
            " | ^",
            id="unknown-name",
        ),
    ],
)
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_compile_errors(release, text, message):
    with pytest.raises(InvalidExpression) as caught:
        compile_selector(text, release)
    assert str(caught.value) == message


def test_lists_of_values_in_1_36_and_in_new_selectors():
    text = f"{ATTRIBUTES}.a.exists(x, x == 1)"
    message = "expression of type 'any' cannot be range of a comprehension"

    with pytest.raises(InvalidExpression, match=message):
        compile_selector(text, V1_36)
    with pytest.raises(InvalidExpression, match=message):
        compile_selector(text, V1_37, is_new=True)
    with pytest.raises(InvalidExpression, match="undeclared reference to 'includes'"):
        compile_selector(f"{ATTRIBUTES}.a.includes(1)", V1_37, is_new=True)
    with pytest.raises(EvaluationError, match="attribute a: unsupported attribute value"):
        compile_selector("true", V1_36).matches(view(V1_36, a={"ints": [1]}))


def test_the_hint_about_missing_keys_came_with_1_37():
    assert with_hint("no such key: a", V1_36) == "no such key: a"
    assert with_hint("no such key: a", V1_37).startswith("no such key: a. consider using CEL")
    assert with_hint("no such overload", V1_37) == "no such overload"
