"""PreScore, Score and NormalizeScore of one plugin, and what ends the attempt."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.answers import AttemptFailed, check_range
from podium.testing.builders import node, pod
from tests.support.toys import Normalizing, PreScore, Score, Toy, profile

FEW = fwk.Rows.of(node("a"), node("b"))
MANY = fwk.Rows.of(*(node(f"n{number}") for number in range(9)))
BROKEN = RuntimeError("broken")


def pre_score(answer):
    plugin = PreScore("P", answer)
    return profile(plugin).pre_score(plugin, fwk.CycleState(), pod(), FEW)


def score(plugin, nodes):
    return profile(plugin).score_all(plugin, fwk.CycleState(), pod(), nodes)


def normalize(plugin, scores, nodes=FEW):
    raw = np.array(scores, np.int64)
    return profile(plugin).normalize(plugin, fwk.CycleState(), pod(), raw, nodes)


@pytest.mark.parametrize("answer", [None, fwk.SUCCESS, fwk.skip()], ids=["none", "ok", "skip"])
def test_pre_score(answer):
    assert pre_score(answer) == (answer or fwk.SUCCESS)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(fwk.Status.error("no disk"), "no disk", id="error"),
        pytest.param(fwk.Status.unschedulable("no"), "no", id="a-rejection-is-an-error-here"),
        pytest.param(fwk.Status.unresolvable("no"), "no", id="so-is-unresolvable"),
        pytest.param(BROKEN, "broken", id="exception"),
    ],
)
def test_pre_score_faults(answer, text):
    with pytest.raises(AttemptFailed) as caught:
        pre_score(answer)

    expected = fwk.Status.error(f'running PreScore plugin "P": {text}').by("P")
    assert caught.value.status == expected


@pytest.mark.parametrize("nodes", [FEW, MANY], ids=["few", "many"])
def test_scores(nodes):
    plugin = Score("S", lambda pod, node: len(node.name))

    scores = score(plugin, nodes)

    assert scores.dtype == np.int64
    assert scores.tolist() == [len(name) for name in nodes.names]
    assert plugin.asked == nodes.names


class Whole(Toy, fwk.ScorePlugin):
    """Has different answers in its two forms, to tell them apart."""

    def score(self, state, pod, node):
        return 1

    def score_all(self, state, pod, nodes):
        return self.answer


def test_many_nodes_are_scored_at_once():
    plugin = Whole("S", np.full(len(MANY), 7, np.int64))

    assert score(plugin, MANY).tolist() == [7] * 9


def test_few_nodes_are_scored_one_by_one_only_for_in_tree_plugins():
    class InTree(Whole):
        __module__ = "podium.plugins.whole"

    sevens = np.full(len(FEW), 7, np.int64)

    assert score(Whole("S", sevens), FEW).tolist() == [7, 7]
    assert score(InTree("S", sevens), FEW).tolist() == [1, 1]


@pytest.mark.parametrize("nodes", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("answer", [BROKEN, None], ids=["exception", "no-number"])
def test_score_faults(nodes, answer, caplog):
    with pytest.raises(AttemptFailed) as caught:
        score(Score("S", answer), nodes)

    status = caught.value.status
    assert status.message.startswith('running Score plugins: plugin "S" failed with: ')
    assert (status.code, status.plugin) == (fwk.Code.ERROR, "S")
    assert caplog.records[0].exc_info is not None


@pytest.mark.parametrize("answer", [BROKEN, None, "many"], ids=["exception", "none", "text"])
def test_faults_of_one_nodes_score(answer):
    plugin = Score("S", answer)

    with pytest.raises(AttemptFailed, match=r'^running Score plugins: plugin "S" failed with: '):
        profile(plugin).score_one(plugin, fwk.CycleState(), pod(), FEW.at(0))


@pytest.mark.parametrize("score", [-1, 101])
def test_one_nodes_score_must_be_in_range(score):
    plugin = Score("S", score)

    with pytest.raises(AttemptFailed, match=f"returns an invalid score {score}, it should in"):
        profile(plugin).score_one(plugin, fwk.CycleState(), pod(), FEW.at(0))


def one_score(plugin):
    return profile(plugin).score_one(plugin, fwk.CycleState(), pod(), FEW.at(0))


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda: one_score(Score("S", 7.9)), id="one-node"),
        pytest.param(lambda: score(Score("S", 7.9), FEW), id="few"),
        pytest.param(lambda: score(Score("S", 7.9), MANY), id="many"),
        pytest.param(lambda: score(Whole("S", np.full(len(MANY), 7.9)), MANY), id="at-once"),
        pytest.param(lambda: normalize(scaling(lambda raw: raw + 0.9), [7, 7]), id="normalized"),
    ],
)
def test_fractions_are_refused(ask):
    with pytest.raises(
        AttemptFailed,
        match=r"expected (a whole number as score|whole numbers as scores), got 7\.9$",
    ):
        ask()


def scaling(normalized):
    plugin = Normalizing("S", 0)
    plugin.normalized = normalized
    return plugin


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(np.full(len(MANY), 7, np.uint8), id="small-integers"),
        pytest.param([7] * len(MANY), id="list"),
    ],
)
def test_any_whole_numbers_are_scores(answer):
    scores = score(Whole("S", answer), MANY)

    assert (scores.dtype, scores.tolist()) == (np.int64, [7] * len(MANY))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(["7"] * len(MANY), id="texts"),
        pytest.param([None] * len(MANY), id="none"),
        pytest.param(np.ones(len(MANY), np.bool_), id="booleans"),
        pytest.param([2**70] * len(MANY), id="beyond-64-bits"),
        pytest.param(np.full((len(MANY), 2), 7), id="a-table"),
    ],
)
def test_nothing_else_is(answer):
    with pytest.raises(AttemptFailed, match=r'plugin "S" failed with: expected '):
        score(Whole("S", answer), MANY)


def test_scores_for_other_nodes_are_a_fault():
    text = r'plugin "S" failed with: expected an answer for each of 9 nodes, got 3$'
    with pytest.raises(AttemptFailed, match=text):
        score(Whole("S", np.zeros(3, np.int64)), MANY)


def test_normalized_scores():
    assert normalize(Normalizing("S"), [1, 2]).tolist() == [50, 100]


def test_scores_without_a_normalizer_are_checked_as_they_are():
    assert normalize(Score("S"), [0, 100]).tolist() == [0, 100]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(BROKEN, "broken", id="exception"),
        pytest.param(
            np.zeros(1, np.int64), "expected an answer for each of 2 nodes, got 1", id="too-few"
        ),
    ],
)
def test_normalize_faults(answer, text):
    plugin = Normalizing("S")
    plugin.normalized = answer

    with pytest.raises(AttemptFailed) as caught:
        normalize(plugin, [1, 2])

    text = f'running Normalize on Score plugins: plugin "S" failed with: {text}'
    assert caught.value.status == fwk.Status.error(text).by("S")


@pytest.mark.parametrize(
    ("scores", "bad"),
    [
        pytest.param([0, 101], 101, id="too-high"),
        pytest.param([-1, 50], -1, id="too-low"),
        pytest.param([2**40, 50], 2**40, id="far-too-high"),
    ],
)
def test_scores_must_be_in_range(scores, bad):
    with pytest.raises(AttemptFailed) as caught:
        normalize(Score("S"), scores)

    assert caught.value.status == fwk.Status.error(
        'applying score defaultWeights on Score plugins: plugin "S" returns an invalid score '
        f"{bad}, it should in the range of [0, 100] after normalizing"
    ).by("S")


def test_no_scores_are_in_range():
    check_range(Score("S"), np.zeros(0, np.int64))
