"""assert_forms_agree finds plugins whose form over all nodes has a rule of its own."""

import sys

import numpy as np
import pytest
from hypothesis import given

from podium import framework as fwk
from podium.testing import assert_forms_agree, node, pod
from podium.testing.forms import check_forms
from podium.testing.generated_cases import cases
from podium.testing.subject import Subject
from tests.support.configurations import JUDGES
from tests.support.search import examples

REFUSED = fwk.Status.unschedulable("not ready")


class Ready(fwk.FilterPlugin):
    """The form over all nodes reads the label's presence where the other reads its value."""

    name = "Ready"

    def filter(self, state, subject, candidate):
        return None if candidate.labels.get("ready") == "yes" else REFUSED

    def filter_all(self, state, subject, nodes):
        present = nodes.labels["ready"].present
        return fwk.Column([REFUSED, fwk.SUCCESS], present.astype(np.intp))


class Whole(fwk.ScorePlugin):
    """The form over all nodes takes a part of them for the whole table."""

    name = "Whole"

    def score(self, state, subject, candidate):
        return candidate.row

    def score_all(self, state, subject, nodes):
        return np.arange(len(nodes))


class Steep(fwk.ScorePlugin):
    name = "Steep"

    def score(self, state, subject, candidate):
        return 101


class Short(fwk.ScorePlugin):
    name = "Short"

    def score(self, state, subject, candidate):
        return 1

    def score_all(self, state, subject, nodes):
        return np.ones(1, np.int64)


class Placed:
    def __init__(self, count):
        self.count = count

    def clone(self):
        return Placed(self.count)


class Forgetful(fwk.PreFilterExtensions, fwk.FilterPlugin):
    """Counts pods; many that leave at once count as one."""

    name = "Forgetful"
    State = Placed

    def pre_filter(self, state, subject, nodes):
        state.put(Placed(sum(len(each.pods) for each in nodes)))

    def add_pod(self, state, subject, other, candidate):
        state.get(Placed).count += 1

    def remove_pod(self, state, subject, other, candidate):
        state.get(Placed).count -= 1

    def remove_pods(self, state, subject, others):
        state.get(Placed).count -= 1

    def filter(self, state, subject, candidate):
        return fwk.Status.unschedulable(f"{state.get(Placed).count} pods")


NODES = [node("a", labels="ready=yes"), node("b", labels="ready=no"), node("c")]
RUNNING = [pod("x", node="a"), pod("y", node="a")]


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        pytest.param(
            Ready, "filter and filter_all differ about node b: Uns.+ alone, Suc", id="filter"
        ),
        pytest.param(Whole, "score and score_all differ about node b: 1 alone, 0", id="part"),
        pytest.param(Steep, r"normalized scores must be in 0\.\.100, not \[101", id="range"),
        pytest.param(Short, "1 answers for 3 nodes", id="size"),
        pytest.param(Forgetful, "differ about node a: .*0 pods alone, .*1 pods", id="dry-run"),
    ],
)
def test_a_difference_is_found(plugin, message):
    with pytest.raises(AssertionError, match=message):
        assert_forms_agree(plugin, pod("web"), [*NODES, *RUNNING])


def test_a_difference_is_found_on_generated_clusters_that_are_like_the_authors(unshrunk):
    with pytest.raises(AssertionError, match="Ready: filter and filter_all differ"):
        assert_forms_agree(Ready, like=NODES)


class Raising(fwk.PreFilterPlugin):
    name = "Raising"

    def pre_filter(self, state, subject, nodes):
        raise ZeroDivisionError


def test_what_a_plugin_raises_is_no_agreement():
    with pytest.raises(ZeroDivisionError):
        assert_forms_agree(Raising, pod("web"), NODES)


@examples(25)
@given(case=cases())
def test_the_forms_of_our_plugins_agree(case):
    for plugin, args in JUDGES:
        check_forms(Subject(plugin, case.objects, args), case.pod)


def test_what_is_missing_for_generated_clusters_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)

    with pytest.raises(ModuleNotFoundError, match=r"install podium\[testing\]"):
        assert_forms_agree(Ready)
