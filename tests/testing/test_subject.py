"""run_filter and run_score: one plugin's answers, as they come about in a cycle."""

import pytest

import podium
from podium import framework as fwk
from podium.testing import FakeHandle, node, pod, run_filter, run_score

NO_RACK = fwk.Status.unresolvable("no rack")


class Racked(fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.ScorePlugin):
    """Nodes without a rack are refused; racks with few pods are better."""

    name = "Racked"

    class Args(fwk.Args):
        most: int = 100

    def __init__(self, args, handle):
        self._most = args.most
        self._handle = handle

    def pre_filter(self, state, subject, nodes):
        if subject.labels.get("rack") == "any":
            return fwk.skip()
        if subject.labels.get("rack") == "none":
            return fwk.Status.unschedulable("wants no rack")
        wanted = subject.labels.get("on")
        return fwk.PreFilterResult(frozenset({wanted})) if wanted else None

    def filter(self, state, subject, candidate):
        return None if "rack" in candidate.labels else NO_RACK

    def score(self, state, subject, candidate):
        return self._most - len(candidate.pods)


CLUSTER = [node("a", labels="rack=r1"), node("b"), node("c", labels="rack=r2"), pod("x", node="a")]
OUTSIDE = fwk.Status.unresolvable("node(s) didn't satisfy plugin(s) [Racked]")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param("", [fwk.SUCCESS, NO_RACK, fwk.SUCCESS], id="judged"),
        pytest.param("rack=any", [fwk.SUCCESS] * 3, id="pre-filter-skips"),
        pytest.param(
            "rack=none", [fwk.Status.unschedulable("wants no rack")] * 3, id="pre-filter-refuses"
        ),
        pytest.param("on=a", [fwk.SUCCESS, OUTSIDE, OUTSIDE], id="pre-filter-names-nodes"),
    ],
)
def test_run_filter(labels, expected):
    verdicts = run_filter(Racked, pod("web", labels=labels), CLUSTER)

    assert verdicts == dict(zip("abc", expected, strict=True))


def test_run_score_scores_what_passes():
    assert run_score(Racked, pod("web"), CLUSTER) == {"a": 99, "c": 100}
    assert run_score(Racked, pod("web"), CLUSTER, args=Racked.Args(most=50)) == {"a": 49, "c": 50}
    assert run_score(Racked, pod("web", labels="rack=none"), CLUSTER) == {}


class Normalized(fwk.ScorePlugin):
    name = "Normalized"

    def score(self, state, subject, candidate):
        return len(candidate.name)

    def normalize_score(self, state, subject, scores, nodes):
        return fwk.scale(scores)


def test_scores_are_normalized():
    assert run_score(Normalized, pod("web"), [node("a"), node("bbbb")]) == {"a": 25, "bbbb": 100}


@podium.filter
def no_spot(node):
    return "spot" not in node.labels or "it is a spot node"


def test_a_decorated_function_is_a_plugin():
    verdicts = run_filter(no_spot, pod("web"), [node("a"), node("b", labels="spot=yes")])

    assert verdicts["a"].ok
    assert verdicts["b"].message == "it is a spot node" or not verdicts["b"].ok


def test_a_plugin_that_is_built_already_is_asked_on_its_handle():
    handle = FakeHandle(*CLUSTER)
    plugin = Racked(Racked.Args(most=10), handle)

    assert run_score(plugin, pod("web"), handle) == {"a": 9, "c": 10}


class Broken(fwk.FilterPlugin):
    name = "Broken"

    def filter(self, state, subject, candidate):
        raise ZeroDivisionError("oops")


def test_a_fault_is_raised_with_its_cause():
    with pytest.raises(Exception, match=r'running "Broken" filter plugin: oops') as raised:
        run_filter(Broken, pod("web"), [node("a")])
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("run", "plugin", "message"),
    [
        pytest.param(run_score, Broken, "Broken has no Score", id="score"),
        pytest.param(run_filter, Normalized, "neither PreFilter nor Filter", id="filter"),
    ],
)
def test_a_plugin_that_cannot_answer_is_an_error(run, plugin, message):
    with pytest.raises(TypeError, match=message):
        run(plugin, pod("web"), [node("a")])


class Spelled(fwk.ScorePlugin):
    name = "Spelled"

    class Args(fwk.Args, frozen=True):
        best_node: str = "a"

        def validate(self):
            if not self.best_node:
                yield fwk.Problem("best_node", "must not be empty")

    def __init__(self, args, handle):
        self._best = args.best_node

    def score(self, state, subject, node):
        return 100 if node.name == self._best else 0


@pytest.mark.parametrize(
    "args", [{"best_node": "b"}, {"bestNode": "b"}, Spelled.Args(best_node="b")]
)
def test_arguments_are_built_as_by_a_configuration(args):
    assert run_score(Spelled, pod(), [node("a"), node("b")], args=args) == {"a": 0, "b": 100}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param({"bestNode": ""}, "best_node: must not be empty", id="validate"),
        pytest.param({"bestNode": 7}, "Expected `str`, got `int`", id="type"),
        pytest.param({"best": "a"}, "unknown field `best`", id="unknown"),
        pytest.param(
            {"best_node": "a", "bestNode": "b"},
            "given twice: best_node and bestNode; remove one of them",
            id="twice",
        ),
    ],
)
def test_wrong_arguments_are_refused(args, problem):
    with pytest.raises(ValueError, match=rf"^wrong arguments of plugin Spelled: .*{problem}"):
        run_score(Spelled, pod(), [node("a")], args=args)
