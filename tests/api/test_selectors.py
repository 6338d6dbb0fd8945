import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.meta import LabelSelector, LabelSelectorRequirement
from podium.api.requirements import Requirement, parse_int64
from podium.api.selectors import EVERYTHING, NOTHING, Selector, from_map, label_selector
from podium.errors import InvalidSelector


def expression(key, operator, *values):
    return LabelSelectorRequirement(key, operator, values)


@pytest.mark.parametrize(
    ("operator", "values", "value", "expected"),
    [
        pytest.param("In", ("a", "b"), "b", True, id="in"),
        pytest.param("In", ("a",), "b", False, id="not-in-list"),
        pytest.param("In", ("a",), None, False, id="in-absent"),
        pytest.param("In", ("",), "", True, id="in-empty-value"),
        pytest.param("NotIn", ("a",), "b", True, id="notin"),
        pytest.param("NotIn", ("a",), "a", False, id="notin-listed"),
        pytest.param("NotIn", ("a",), None, True, id="notin-absent"),
        pytest.param("Exists", (), "", True, id="exists"),
        pytest.param("Exists", (), None, False, id="exists-absent"),
        pytest.param("DoesNotExist", (), None, True, id="does-not-exist"),
        pytest.param("DoesNotExist", (), "a", False, id="does-not-exist-present"),
        pytest.param("Gt", ("5",), "6", True, id="gt"),
        pytest.param("Gt", ("5",), "5", False, id="gt-is-strict"),
        pytest.param("Gt", ("5",), None, False, id="gt-absent"),
        pytest.param("Gt", ("5",), "six", False, id="gt-no-number"),
        pytest.param("Gt", ("5",), "007", True, id="gt-leading-zeros"),
        pytest.param("Gt", ("5",), "1_0", False, id="gt-underscore"),
        pytest.param("Gt", ("5",), "99999999999999999999", False, id="gt-beyond-int64"),
        pytest.param("Lt", ("5",), "4", True, id="lt"),
        pytest.param("Lt", ("5",), "-4", True, id="lt-negative-label"),
        pytest.param("Lt", ("5",), "5", False, id="lt-is-strict"),
        pytest.param("Lt", ("x",), "5", False, id="lt-unreadable-value"),
    ],
)
def test_requirement(operator, values, value, expected):
    requirement = Requirement("key", operator, values)

    assert requirement.matches_value(value) is expected
    assert requirement.matches({} if value is None else {"key": value}) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-00000000000000000000000000005", -5),
        ("+5", 5),
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        (str(2**63), None),
        (" 5", None),
        ("5_0", None),
        ("", None),
        ("-", None),
        ("٥", None),
        ("9" * 10_000, None),
    ],
    ids=repr,
)
def test_parse_int64(text, expected):
    assert parse_int64(text) == expected


def test_nil_selects_nothing_and_is_not_empty():
    selector = label_selector(None)

    assert selector is NOTHING
    assert not selector.matches({})
    assert not selector.is_empty


def test_the_empty_selector_selects_everything():
    selector = label_selector(LabelSelector())

    assert selector == EVERYTHING == from_map({})
    assert selector.matches({"a": "b"})
    assert selector.is_empty


def test_all_requirements_must_hold():
    selector = label_selector(
        LabelSelector({"app": "web"}, (expression("tier", "NotIn", "db", "cache"),))
    )

    assert selector.keys == {"app", "tier"}
    assert selector.matches({"app": "web", "tier": "front"})
    assert selector.matches({"app": "web"})
    assert not selector.matches({"app": "web", "tier": "db"})
    assert not selector.matches({"tier": "front"})


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        pytest.param(
            LabelSelector({}, (expression("a", "Gt", "1"),)),
            '^"Gt" is not a valid label selector operator$',
            id="gt-is-for-nodes",
        ),
        pytest.param(
            LabelSelector({}, (expression("a", "in", "1"),)),
            '^"in" is not a valid label selector operator$',
            id="unknown-operator",
        ),
        pytest.param(
            LabelSelector({}, (expression("a", "In"),)),
            "^values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty$",
            id="in-without-values",
        ),
        pytest.param(
            LabelSelector({}, (expression("a", "Exists", "x"),)),
            r'^values: Invalid value: \["x"\]: values set must be empty for exists and does not',
            id="exists-with-values",
        ),
        pytest.param(
            LabelSelector({"-bad": "x"}),
            '^key: Invalid value: "-bad": name part must consist of alphanumeric characters',
            id="key",
        ),
        pytest.param(LabelSelector({"": "x"}), "name part must be non-empty", id="empty-key"),
        pytest.param(LabelSelector({"/a": "x"}), "prefix part must be non-empty", id="no-prefix"),
        pytest.param(LabelSelector({"A.b/a": "x"}), "prefix part a lowercase RFC", id="prefix"),
        pytest.param(LabelSelector({"a/b/c": "x"}), "a qualified name must", id="two-slashes"),
        pytest.param(LabelSelector({"a" * 64: "x"}), "no more than 63 bytes", id="long-key"),
        pytest.param(
            LabelSelector({f"{'a' * 254}/b": "x"}), "no more than 253 bytes", id="long-prefix"
        ),
        pytest.param(
            LabelSelector({"a": "b c"}),
            r'^values\[0\]\[a\]: Invalid value: "b c": a valid label must be an empty string or',
            id="value",
        ),
        pytest.param(LabelSelector({"a": "b" * 64}), "no more than 63 bytes", id="long-value"),
        pytest.param(LabelSelector({"a": "b\n"}), "a valid label must", id="trailing-newline"),
        pytest.param(
            LabelSelector({}, (expression("a b", "In", "c d"),)), r"^\[key: .*, values", id="both"
        ),
    ],
)
def test_label_selector_refuses(selector, reason):
    with pytest.raises(InvalidSelector, match=reason):
        label_selector(selector)


def test_maps_are_not_validated():
    assert from_map({"no key!": "b c"}).matches({"no key!": "b c"})


def test_equal_meaning_gives_equal_selectors():
    one = label_selector(LabelSelector({"b": "1", "a": "2"}, (expression("c", "In", "x", "y"),)))
    two = label_selector(LabelSelector({"a": "2", "b": "1"}, (expression("c", "In", "y", "x"),)))

    assert one == two
    assert hash(one) == hash(two)
    assert one == from_map({"a": "2", "b": "1"}).merge(
        Selector((Requirement("c", "In", ("x", "y")),))
    )


def test_and_equals():
    selector = from_map({"app": "web"}).and_equals({"rev": "1"})

    assert selector == from_map({"rev": "1", "app": "web"})
    assert NOTHING.and_equals({"rev": "1"}) is NOTHING
    assert EVERYTHING.and_equals({"rev": "1"}) == from_map({"rev": "1"})
    assert selector.merge(NOTHING) is NOTHING
    assert selector.merge(EVERYTHING) is selector


keys = st.sampled_from("abc")
values = st.sampled_from(["", "x", "y", "7"])
labels = st.dictionaries(keys, values)
expressions = st.one_of(
    st.builds(
        lambda key, operator, values: expression(key, operator, *values),
        keys,
        st.sampled_from(["In", "NotIn"]),
        st.lists(values, min_size=1),
    ),
    st.builds(expression, keys, st.sampled_from(["Exists", "DoesNotExist"])),
)


def naive(written: LabelSelector, labels: dict[str, str]) -> bool:
    """The rule once more, in the words of the documentation."""
    verdicts = [labels.get(key) == value for key, value in written.match_labels.items()]
    for found in written.match_expressions:
        present = found.key in labels
        listed = present and labels[found.key] in found.values
        verdicts.append(
            {"In": listed, "NotIn": not listed, "Exists": present, "DoesNotExist": not present}[
                found.operator
            ]
        )
    return all(verdicts)


@given(pairs=labels, expressions=st.lists(expressions), labels=labels)
def test_matches_as_documented(pairs, expressions, labels):
    written = LabelSelector(pairs, tuple(expressions))

    assert label_selector(written).matches(labels) == naive(written, labels)


@given(one=labels, other=labels, labels=labels)
def test_merge_is_conjunction(one, other, labels):
    both = from_map(one).merge(from_map(other))

    assert both.matches(labels) == (
        from_map(one).matches(labels) and from_map(other).matches(labels)
    )
