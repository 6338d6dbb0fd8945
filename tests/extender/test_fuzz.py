"""Whatever an extender answers is read or refused; nothing else comes of it."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium.errors import ExtenderError
from podium.extender import replies
from podium.framework.extender import Filtered
from podium.state.cluster import ClusterState
from podium.testing.builders import node, pod
from tests.support.search import examples

KEYS = (
    "Nodes", "nodenames", "FailedNodes", "FailedAndUnresolvableNodes", "Error", "items", "metadata",
    "name", "Host", "Score", "NodeNameToMetaVictims", "Pods", "UID", "NumPDBViolations", "a",
)  # fmt: skip
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
)
values = st.recursive(
    leaves | st.sampled_from(["a", "uid-web"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)
answers = values.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40)


@pytest.fixture(scope="module")
def cluster():
    made = ClusterState()
    made.set_node(node("a"))
    made.add_pod(pod("web", node="a"))
    return made


def read(call, *args):
    try:
        return call(*args)
    except ExtenderError:
        return None


@examples(400)
@given(answer=answers)
@example(answer=b'{"Nodes":{"items":[{"metadata":{"name":"a"}}]},"Nodes":7}')
@example(answer=b'{"NodeNames":["\\ud800"]}')
@example(answer=b"\xef\xbb\xbf{}")
def test_every_answer_is_read_or_refused(answer, cluster):
    for names_only in (False, True):
        found = read(replies.filtered, answer, names_only)
        assert found is None or isinstance(found, Filtered)
        assert found is None or all(isinstance(name, str) for name in found.names)
    scores = read(replies.scores, answer) or {}
    assert all(type(score) is int for score in scores.values())
    for candidate in read(replies.candidates, answer, "X", cluster) or ():
        assert candidate.node == "a"
        assert {info.uid for info in candidate.victims} <= {"uid-web"}
    assert isinstance(read(replies.error, answer) or "", str)
