"""Random days: faults of the API, of plugins, of nodes; in the end everything is in its place."""

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from tests.support.search import examples
from tests.support.soak import FAULTS, Unreliable, UnreliableFilter, play_day

pytestmark = pytest.mark.slow

pods = st.sampled_from([f"p{n}" for n in range(7)])
nodes = st.sampled_from(["n0", "n1", "n2"])
values = st.sampled_from("ab")
refusals = st.sampled_from(["error", "refuse", "raise"])
paths = st.sampled_from(["/binding", "/binding", "/status", "/events", "/pods/p1", "/nodes"])


def event(verb, *arguments):
    return st.tuples(st.just(verb), *arguments)


events = st.one_of(
    event("add_pod", pods, st.integers(1, 20), st.booleans(), st.booleans()),
    event("add_pod", pods, st.integers(1, 20), st.booleans(), st.booleans()),
    event("delete_pod", pods),
    event("label_pod", pods, values),
    event("add_node", nodes, st.integers(5, 30)),
    event("delete_node", nodes),
    event("label_node", nodes, values),
    event("cordon", nodes, st.booleans()),
    event("grow", nodes),
    event("spoil", paths, st.sampled_from(list(FAULTS))),
    event("cut"),
    event("upset", st.sampled_from(["reserve", "pre_bind", "filter"]), refusals),
    event("upset", st.just("permit"), st.sampled_from(["error", "refuse", "raise", "wait"])),
    event("upset", st.just("pre_bind"), st.just("cancel")),
    event("upset", st.sampled_from(["unreserve", "post_bind"]), st.just("raise")),
    event("wait", st.integers(0, 20)),
)


A_BIT_OF_ALL = [
    ("upset", "pre_bind", "cancel"),
    ("add_pod", "p0", 5, False, False),
    ("wait", 3),
    ("upset", "pre_bind", "error"),
    ("upset", "unreserve", "raise"),
    ("add_pod", "p1", 5, False, True),
    ("wait", 3),
    ("spoil", "/binding", "lost-answer"),
    ("add_pod", "p2", 20, True, True),
    ("upset", "permit", "wait"),
    ("add_pod", "p3", 3, False, False),
    ("wait", 1),
    ("cut",),
    ("delete_pod", "p3"),
    ("delete_node", "n1"),
]


A_NODE_COMES_BACK = [
    ("delete_node", "n0"),
    ("add_pod", "p0", 9, False, False),
    ("wait", 3),
    ("delete_node", "n1"),
    ("wait", 1),
    ("add_node", "n1", 5),
]


@pytest.mark.parametrize("judge", [Unreliable, UnreliableFilter], ids=lambda plugin: plugin.name)
@examples(12, suppress_health_check=list(HealthCheck))
@example(story=A_BIT_OF_ALL)
@example(story=A_NODE_COMES_BACK)
@given(story=st.lists(events, min_size=5, max_size=40))
def test_after_any_day_everything_is_in_its_place(judge, story):
    play_day([("add_node", "n0", 20), ("add_node", "n1", 10), *story], judge)
