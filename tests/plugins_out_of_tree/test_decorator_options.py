"""What decorators refuse at once: parameters, options, and what is not a plain function."""

from functools import partial

import pytest

import podium
from podium import framework as fwk
from podium.errors import PluginError


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        pytest.param(
            "pod, nods",
            "plugin far: far(pod, nods) has the unknown parameter nods; it may have: pod, node, "
            'nodes, state, handle; did you mean "nodes"?',
            id="misspelled",
        ),
        pytest.param("pod, node, a, b", "the unknown parameters a, b; it may have", id="several"),
        pytest.param("node, nodes", "takes node and nodes; choose one of them", id="both"),
        pytest.param("pod, *rest", "must name its parameters: pod, node, nodes, state", id="rest"),
        pytest.param("**all", "must name its parameters", id="whatever-there-is"),
        pytest.param(
            "pod, /, node",
            "far(pod, /, node) is called with named parameters: remove the '/'",
            id="positional-only",
        ),
    ],
)
@pytest.mark.parametrize("decorator", [podium.filter, podium.score])
def test_a_parameter_that_nobody_gives_is_refused_at_once(decorator, parameters, problem):
    space = {}
    exec(f"def far({parameters}): pass", space)
    space["far"].__module__ = __name__

    with pytest.raises(PluginError) as refused:
        decorator(space["far"])

    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param({"sign": 7}, "sign must be a pod field such as", id="sign"),
        pytest.param({"depends_on": "labels"}, "depends_on must be aspects", id="depends-on"),
        pytest.param({"depends_on": True}, "depends_on must be aspects", id="depends-on-true"),
        pytest.param({"events": "Node"}, r"events must be fwk\.on", id="events"),
        pytest.param({"name": 3}, "name must be a text, not 3", id="name-number"),
        pytest.param({"name": b"x"}, "name must be a text, not b'x'", id="name-bytes"),
        pytest.param({"name": None}, "name must be a text, not None", id="name-none"),
        pytest.param({"name": "  "}, "name must be one line of text .*, not '  '", id="name-blank"),
        pytest.param({"name": "a b\nc"}, "name must be one line of text", id="name-of-two-lines"),
        pytest.param({"reason": ["x"]}, r"reason must be a text, not \['x'\]", id="reason-list"),
        pytest.param({"reason": 3}, "reason must be a text, not 3", id="reason-number"),
        pytest.param({"sign": ()}, "sign has no fields; .* sign=lambda pod: ", id="sign-empty"),
        pytest.param({"sign": []}, "sign has no fields", id="sign-empty-list"),
        pytest.param(
            {"sign": ("metadata.labels", 3)},
            "sign: a field is a text such as .*, not 3",
            id="sign-number",
        ),
        pytest.param({"sign": "metadata"}, "sign: 'metadata' is a whole object; name", id="object"),
        pytest.param({"sign": "nonsense.field"}, "sign: a pod has no field 'nons", id="no-field"),
        pytest.param(
            {"sign": "spec.nodeSelector"},
            "sign: a pod has no field 'spec.nodeSelector'; did you mean \"node_selector\"",
            id="field-misspelt",
        ),
        pytest.param(
            {"depends_on": 10**9}, r"depends_on must be a sum of .*, not 10000", id="bits"
        ),
        pytest.param({"depends_on": 2**70}, r"depends_on must be a sum of", id="many-bits"),
        pytest.param(
            {"depends_on": 0}, r"depends_on=0 names no aspect; .* fwk\.Dependencies\(\)", id="zero"
        ),
        pytest.param(
            {"watches": fwk.StorageClass},
            r"watches must be a tuple of kinds such as \(StorageClass,\), not <class",
            id="watches-a-class",
        ),
        pytest.param({"watches": None}, "watches must be a tuple .*, not None", id="watches-none"),
        pytest.param({"watches": "Service"}, "watches must be a tuple", id="watches-text"),
        pytest.param({"watches": (int,)}, "watches: expected one of the", id="watches-unknown"),
    ],
)
def test_options_are_checked(options, problem):
    with pytest.raises(PluginError, match=rf"^plugin odd: odd\(pod, node\): {problem}"):

        @podium.filter(**options)
        def odd(pod, node):
            return True


@pytest.mark.parametrize("weight", [1.5, "2", 0, -1, True, None, 10**12], ids=repr)
def test_a_weight_is_a_positive_whole_number(weight):
    with pytest.raises(PluginError) as refused:
        podium.score(weight=weight)(lambda node: 1)

    problem = f"weight must be a whole number from 1 to 2147483647, not {weight!r}"
    assert str(refused.value) == f"plugin <lambda>: <lambda>(node): {problem}"


def test_several_problems_are_reported_at_once():
    with pytest.raises(PluginError, match=r"name must be a text, not 3; weight .*; normalize must"):
        podium.score(name=3, weight=0, normalize=3)(lambda node: 1)


@pytest.mark.parametrize(
    ("decorator", "options", "problem"),
    [
        pytest.param(
            podium.filter,
            {"nam": "x"},
            "@podium.filter has no option nam; it has: name, reason, sign, depends_on, events, "
            'watches; did you mean "name"?',
            id="misspelt",
        ),
        pytest.param(
            podium.filter,
            {"weight": 2},
            "@podium.filter has no option weight; it has: name, reason, sign, depends_on, events, "
            "watches; only @podium.score has it",
            id="of-another",
        ),
        pytest.param(
            podium.permit,
            {"sgin": None},
            "@podium.permit has no option sgin; it has: name, events, watches",
            id="unknown",
        ),
    ],
)
def test_an_unknown_option_is_refused(decorator, options, problem):
    with pytest.raises(PluginError) as refused:
        decorator(**options)

    assert str(refused.value) == problem


class Answering:
    def __call__(self, pod, node):
        return True

    def method(self, pod, node):
        return True


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param(
            "NoSpot", "expected a function, got 'NoSpot'; for a name write name=", id="text"
        ),
        pytest.param(Answering(), "expected a function written with def, got <", id="object"),
        pytest.param(Answering().method, "expected a function written with def", id="method"),
        pytest.param(Answering, "expected a function written with def", id="class"),
        pytest.param(partial(print), "expected a function written with def", id="partial"),
        pytest.param(len, "expected a function written with def", id="built-in"),
        pytest.param(3, "expected a function written with def, got 3", id="number"),
    ],
)
@pytest.mark.parametrize("name", ["filter", "score", "permit"])
def test_what_is_not_a_function_is_refused(name, given, problem):
    with pytest.raises(PluginError) as refused:
        getattr(podium, name)(given)

    assert str(refused.value).startswith(f"@podium.{name}: {problem}")


@pytest.mark.parametrize("keyword", ["return", "yield"])
@pytest.mark.parametrize("name", ["filter", "score", "permit", "pre_enqueue"])
def test_a_function_that_cannot_wait_is_not_async(name, keyword):
    space = {}
    exec(f"async def waits(pod): {keyword}\ndef yields(pod): yield", space)

    for function in (space["waits"], space["yields"]):
        with pytest.raises(PluginError, match=r"^plugin .* must be a plain function, not async"):
            getattr(podium, name)(function)
