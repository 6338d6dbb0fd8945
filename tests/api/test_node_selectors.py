import pytest

from podium.api.objects import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    PreferredSchedulingTerm,
)
from podium.api.selectors import RequiredNodeAffinity, node_selector, preferred_terms
from podium.errors import InvalidSelector

LABELS = {"zone": "a", "cores": "8"}


def require(key, operator, *values):
    return NodeSelectorRequirement(key, operator, values)


def labels(*requirements):
    return NodeSelectorTerm(match_expressions=requirements)


def fields(*requirements):
    return NodeSelectorTerm(match_fields=requirements)


def pod(*terms, selector=None, required=True):
    affinity = Affinity(NodeAffinity(NodeSelector(terms))) if required else None
    return Pod(spec=PodSpec(node_selector=selector or {}, affinity=affinity))


IN_ZONE_A = labels(require("zone", "In", "a"))
IN_ZONE_B = labels(require("zone", "In", "b"))
BROKEN = labels(require("cores", "Gt", "many"))


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param((), False, id="no-terms"),
        pytest.param((NodeSelectorTerm(),), False, id="empty-term"),
        pytest.param((IN_ZONE_A,), True, id="match"),
        pytest.param((IN_ZONE_B,), False, id="no-match"),
        pytest.param((IN_ZONE_B, IN_ZONE_A), True, id="terms-are-ored"),
        pytest.param((NodeSelectorTerm(), IN_ZONE_A), True, id="empty-term-ignored"),
        pytest.param((BROKEN,), False, id="unreadable-term"),
        pytest.param((BROKEN, IN_ZONE_A), True, id="unreadable-term-spares-others"),
        pytest.param((labels(require("cores", "Gt", "7")),), True, id="gt"),
        pytest.param((labels(require("cores", "Lt", "8")),), False, id="lt"),
        pytest.param((labels(require("cores", "Gt", "-1")),), False, id="signed-value-unreadable"),
        pytest.param((fields(require("metadata.name", "In", "n1")),), True, id="field"),
        pytest.param((fields(require("metadata.name", "In", "n2")),), False, id="other-field"),
        pytest.param((fields(require("metadata.name", "NotIn", "n2")),), True, id="field-notin"),
        pytest.param((fields(require("metadata.name", "In", "n1", "n2")),), False, id="two-values"),
        pytest.param((fields(require("metadata.name", "Exists")),), False, id="field-operator"),
        pytest.param(
            (fields(require("metadata.uid", "In", "")),), True, id="other-key-reads-empty"
        ),
        pytest.param(
            (
                NodeSelectorTerm(
                    IN_ZONE_A.match_expressions, (require("metadata.name", "In", "n2"),)
                ),
            ),
            False,
            id="labels-and-fields",
        ),
    ],
)
def test_required_terms(terms, expected):
    assert node_selector(NodeSelector(terms)).matches(LABELS, "n1") is expected


def test_a_node_without_a_name_passes_the_fields():
    assert node_selector(NodeSelector((fields(require("metadata.name", "In", "n1")),))).matches(
        {}, ""
    )


@pytest.mark.parametrize(
    ("term", "error"),
    [
        pytest.param(
            BROKEN,
            'matchExpressions[0].values[0]: Invalid value: "many": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
            id="gt",
        ),
        pytest.param(
            labels(require("a", "Gt")),
            "matchExpressions[0].values: Invalid value: null: "
            "for 'Gt', 'Lt' operators, exactly one value is required",
            id="gt-no-value",
        ),
        pytest.param(
            labels(require("a", "Near", "b")),
            'matchExpressions[0].operator: Unsupported value: "Near": supported values: '
            '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
            id="operator",
        ),
        pytest.param(
            fields(require("metadata.name", "Exists")),
            'matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
            id="field-operator",
        ),
        pytest.param(
            fields(require("metadata.name", "In", "a", "b")),
            'matchFields[0].values: Invalid value: ["a", "b"]: must have one element',
            id="field-values",
        ),
    ],
)
def test_errors_name_the_place(term, error):
    matcher = node_selector(NodeSelector((IN_ZONE_A, term)))

    assert matcher.errors == (f"nodeSelectorTerms[1].{error}",)
    with pytest.raises(InvalidSelector):
        matcher.check()


def test_preferences_drop_what_has_no_weight_or_asks_nothing():
    terms = (
        PreferredSchedulingTerm(0, BROKEN),
        PreferredSchedulingTerm(5, NodeSelectorTerm()),
        PreferredSchedulingTerm(7, IN_ZONE_A),
    )

    (only,) = preferred_terms(terms)

    assert only.weight == 7
    assert only.term.matches(LABELS, "n1")


def test_preferences_fail_as_a_whole():
    terms = (
        PreferredSchedulingTerm(1, IN_ZONE_A),
        PreferredSchedulingTerm(
            1, labels(require("zone", "Exists"), require("cores", "Gt", "abc"))
        ),
    )

    with pytest.raises(InvalidSelector) as caught:
        preferred_terms(terms)

    assert str(caught.value) == (
        '[1].matchExpressions[1].values[0]: Invalid value: "abc": '
        "for 'Gt', 'Lt' operators, the value must be an integer"
    )


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param(pod(required=False), True, id="asks-nothing"),
        pytest.param(pod(required=False, selector={"zone": "a"}), True, id="selector"),
        pytest.param(pod(required=False, selector={"zone": "b"}), False, id="other-selector"),
        pytest.param(pod(required=False, selector={"rack": ""}), False, id="absent-is-not-empty"),
        pytest.param(pod(IN_ZONE_A, selector={"cores": "8"}), True, id="both"),
        pytest.param(pod(IN_ZONE_A, selector={"cores": "9"}), False, id="selector-fails"),
        pytest.param(pod(IN_ZONE_B, selector={"cores": "8"}), False, id="affinity-fails"),
        pytest.param(pod(), False, id="required-without-terms"),
    ],
)
def test_required_node_affinity(subject, expected):
    assert RequiredNodeAffinity.of(subject).matches(LABELS, "n1") is expected


def test_required_node_affinity_describes_itself():
    assert RequiredNodeAffinity.of(Pod()).is_empty
    assert RequiredNodeAffinity.of(pod(BROKEN, IN_ZONE_A)).has_errors
    assert not RequiredNodeAffinity.of(pod(IN_ZONE_A)).has_errors
    assert not RequiredNodeAffinity.of(pod()).is_empty


def test_equal_demands_share_one_object():
    one = RequiredNodeAffinity.of(pod(IN_ZONE_A, selector={"a": "1", "b": "2"}))
    two = RequiredNodeAffinity.of(pod(IN_ZONE_A, selector={"b": "2", "a": "1"}))

    assert one is two
    assert hash(one) == hash(two)
    assert one.pairs == (("a", "1"), ("b", "2"))
