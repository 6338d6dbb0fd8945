import pytest

from podium import framework as fwk
from podium.plugins.node_affinity import (
    CONFLICT,
    REJECTED,
    REJECTED_BY_PROFILE,
    AffinityArgs,
    NodeAffinity,
)
from podium.testing.builders import node, pod
from tests.support.node_affinity import affinity, named, plugin, term, verdicts

PLAIN = NodeAffinity(AffinityArgs(), None)
SSD, HDD = node("a", labels="disk=ssd cores=16"), node("b", labels="disk=hdd cores=8")
BARE = node("c")


@pytest.mark.parametrize(
    ("spec", "matching"),
    [
        pytest.param({}, "abc", id="nothing-asked"),
        pytest.param({"node_selector": "disk=ssd"}, "a", id="selector"),
        pytest.param({"node_selector": "disk=ssd cores=8"}, "", id="all-pairs-count"),
        pytest.param({"affinity": affinity([term("disk In ssd,hdd")])}, "ab", id="in"),
        pytest.param({"affinity": affinity([term("disk NotIn ssd")])}, "bc", id="not-in"),
        pytest.param({"affinity": affinity([term("disk Exists")])}, "ab", id="exists"),
        pytest.param({"affinity": affinity([term("disk DoesNotExist")])}, "c", id="does-not-exist"),
        pytest.param({"affinity": affinity([term("cores Gt 8")])}, "a", id="greater"),
        pytest.param({"affinity": affinity([term("cores Lt 16")])}, "b", id="less"),
        pytest.param({"affinity": affinity([term("disk Gt 1")])}, "", id="no-number"),
        pytest.param(
            {"affinity": affinity([term("disk Exists", "cores Lt 16")])}, "b", id="and-in-a-term"
        ),
        pytest.param(
            {"affinity": affinity([term("cores Gt 8"), term("cores Lt 9")])}, "ab", id="or-of-terms"
        ),
        pytest.param({"affinity": affinity([])}, "", id="no-terms-match-nothing"),
        pytest.param({"affinity": affinity([term()])}, "", id="empty-term-matches-nothing"),
        pytest.param(
            {"affinity": affinity([term(), term("disk In ssd")])}, "a", id="empty-term-is-ignored"
        ),
        pytest.param({"affinity": affinity([named("b")])}, "b", id="name"),
        pytest.param(
            {"affinity": affinity([term(fields=["metadata.name NotIn b"])])}, "ac", id="not-name"
        ),
        pytest.param(
            {"affinity": affinity([term("disk In ssd", fields=["metadata.name In b"])])},
            "",
            id="name-and-label",
        ),
        pytest.param(
            {"node_selector": "disk=hdd", "affinity": affinity([term("cores Exists")])},
            "b",
            id="selector-and-affinity",
        ),
        pytest.param(
            {"affinity": affinity([term("disk Like s"), term("disk In hdd")])},
            "b",
            id="unreadable-term-matches-nothing",
        ),
        pytest.param({"affinity": affinity([term("disk In")])}, "", id="only-an-unreadable-term"),
        pytest.param(
            {"affinity": affinity(None, [(1, term("disk In ssd"))])}, "abc", id="preferred-only"
        ),
    ],
)
def test_filter(spec, matching):
    nodes = fwk.Rows.of(SSD, HDD, BARE)

    found = verdicts(pod(**spec), nodes, PLAIN)

    assert found == [fwk.SUCCESS if name in matching else REJECTED for name in nodes.names]


def test_affinity_of_the_profile_comes_first():
    enforcing = plugin([term("disk Exists")])
    nodes = fwk.Rows.of(SSD, HDD, BARE)

    assert verdicts(pod(), nodes, enforcing) == [fwk.SUCCESS, fwk.SUCCESS, REJECTED_BY_PROFILE]
    assert verdicts(pod(node_selector="disk=ssd"), nodes, enforcing) == [
        fwk.SUCCESS,
        REJECTED,
        REJECTED_BY_PROFILE,
    ]


def test_affinity_of_the_profile_without_terms_matches_nothing():
    nodes = fwk.Rows.of(SSD)

    assert verdicts(pod(), nodes, plugin([])) == [REJECTED_BY_PROFILE]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        pytest.param(REJECTED, "node(s) didn't match Pod's node affinity/selector", id="pod"),
        pytest.param(
            REJECTED_BY_PROFILE,
            "node(s) didn't match scheduler-enforced node affinity",
            id="profile",
        ),
        pytest.param(CONFLICT, "pod affinity terms conflict", id="conflict"),
    ],
)
def test_rejections_are_final_and_say_why(status, reason):
    assert status == fwk.Status.unresolvable(reason)


@pytest.mark.parametrize(
    ("profile", "spec", "skips"),
    [
        pytest.param(plugin(), {}, True, id="nothing-asked"),
        pytest.param(plugin(), {"node_selector": "a=b"}, False, id="selector"),
        pytest.param(plugin(), {"affinity": affinity([])}, False, id="affinity-without-terms"),
        pytest.param(
            plugin(), {"affinity": affinity(None, [(1, term("a Exists"))])}, True, id="preferred"
        ),
        pytest.param(plugin([term("a Exists")]), {}, False, id="profile-requires"),
        pytest.param(plugin(None, [(1, term("a Exists"))]), {}, True, id="profile-prefers"),
    ],
)
def test_pre_filter_skips_when_nothing_is_required(profile, spec, skips):
    answer = profile.pre_filter(fwk.CycleState(), pod(**spec), fwk.Rows.of(SSD))

    assert (answer == fwk.skip()) is skips


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        pytest.param([named("a")], {"a"}, id="one"),
        pytest.param([named("a"), named("x")], {"a", "x"}, id="union-of-terms"),
        pytest.param([named("a,b", "b,c")], {"b"}, id="intersection-in-a-term"),
        pytest.param([named("a", "b"), named("c")], {"c"}, id="one-term-contradicts-itself"),
        pytest.param([named("a"), term("disk Exists")], None, id="a-term-without-names"),
        pytest.param([named("a"), term()], None, id="an-empty-term"),
        pytest.param([term(fields=["metadata.name NotIn a"])], None, id="excluded-names"),
        pytest.param(
            [term(fields=["metadata.name NotIn a", "metadata.name In b"])], {"b"}, id="both"
        ),
        pytest.param([term("disk In hdd", fields=["metadata.name In a"])], {"a"}, id="and-labels"),
        pytest.param([term(fields=["metadata.uid In a"])], None, id="other-field"),
        pytest.param([], None, id="no-terms"),
    ],
)
def test_only_nodes_asked_for_by_name_are_in_question(terms, names):
    subject = pod(affinity=affinity(terms))

    answer = PLAIN.pre_filter(fwk.CycleState(), subject, fwk.Rows.of(SSD))

    assert answer == (None if names is None else fwk.PreFilterResult(frozenset(names)))


def test_names_that_contradict_each_other_fail_the_pod():
    subject = pod(affinity=affinity([named("a", "b"), named("b", "c")]))

    assert PLAIN.pre_filter(fwk.CycleState(), subject, fwk.Rows.of(SSD)) == CONFLICT


def test_names_of_the_profile_do_not_narrow_the_nodes():
    answer = plugin([named("a")]).pre_filter(fwk.CycleState(), pod(), fwk.Rows.of(SSD))

    assert answer is None


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [
        pytest.param({}, {"labels": "app=web"}, True, id="labels-do-not-matter"),
        pytest.param(
            {"node_selector": {"a": "1", "b": "2"}},
            {"node_selector": {"b": "2", "a": "1"}},
            True,
            id="order-of-pairs",
        ),
        pytest.param({}, {"node_selector": "a=1"}, False, id="selector"),
        pytest.param({}, {"affinity": affinity([])}, False, id="required-without-terms"),
        pytest.param(
            {"affinity": affinity([named("a")])},
            {"affinity": affinity([named("a"), term()])},
            False,
            id="an-empty-term-ends-the-narrowing",
        ),
        pytest.param(
            {}, {"affinity": affinity(None, [(1, term("a Exists"))])}, False, id="preferred"
        ),
    ],
)
def test_signature(first, second, are_equal):
    assert (PLAIN.sign(pod(**first)) == PLAIN.sign(pod(**second))) is are_equal


def test_reads_labels_when_there_is_something_to_match():
    labels = fwk.Dependencies(node=fwk.Aspect.LABELS)
    preferring = pod(affinity=affinity(None, [(1, term("a Exists"))]))

    assert PLAIN.depends_on(pod()) == fwk.Dependencies()
    assert PLAIN.depends_on(pod(node_selector="a=1")) == labels
    assert PLAIN.depends_on(preferring) == labels
    assert plugin([term("a Exists")]).depends_on(pod()) == labels
    assert plugin(None, [(1, term("a Exists"))]).depends_on(pod()) == labels
