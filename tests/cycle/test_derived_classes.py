"""A new class of pods starts from the answers of the last one: only some plugins are asked."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import app
from podium import framework as fwk
from podium.config import default
from podium.cycle.outcome import Placed
from podium.framework.queued_pod import QueuedPod
from podium.testing.builders import node, pod
from tests.support.clusters import Cluster, clusters, pods
from tests.support.reuse import CONFIGURATIONS, EVENTS, Pair
from tests.support.search import examples

FIELDS = (
    "containers", "tolerations", "affinity", "node_selector", "topology_spread_constraints",
    "volumes",
)  # fmt: skip


def with_fields_of(template, other, fields, name):
    """Return the template with some fields of the other pod."""
    spec = msgspec.structs.replace(
        template.spec,
        **{field: getattr(other.spec, field) for field in fields if field != "labels"},
    )
    labels = other.labels if "labels" in fields else template.labels
    meta = msgspec.structs.replace(template.metadata, name=name, uid=f"uid-{name}", labels=labels)
    return msgspec.structs.replace(template, metadata=meta, spec=spec)


@examples(200)
@given(cluster=clusters(), data=st.data())
def test_a_derived_class_equals_one_from_scratch(cluster, data):
    pair = Pair(cluster, data.draw(CONFIGURATIONS))
    template = data.draw(pods("t"))
    changed = st.lists(st.sampled_from((*FIELDS, "labels")), max_size=2, unique=True)
    for number in range(data.draw(st.integers(2, 10))):
        if data.draw(st.integers(0, 3)):
            other = data.draw(pods(f"o{number}"))
            pair.attempt(with_fields_of(template, other, data.draw(changed), f"r{number}"))
        else:
            data.draw(st.sampled_from(EVENTS))(pair, number, data.draw)
    pair.each(lambda core: core.cluster.check_invariants())


def test_what_the_last_pod_prepared_is_not_seen_by_one_that_gets_less_far():
    """The PreFilter of DynamicResources is not reached, and its PostFilter must not find it."""
    pair = Pair(Cluster(nodes=[node("a")]), default(app.in_tree()))

    pair.attempt(pod("first"))
    pair.attempt(pod("other", claims="missing"))
    pair.attempt(pod("third"))


class Counted:
    """A core with three nodes, and how often its plugins were called for the last pod."""

    def __init__(self, *outside):
        registry = app.in_tree()
        for plugin in outside:
            registry.register(plugin, origin="a test", enable=True)
        self.core = app.build(default(registry), registry=registry)
        for name in "abc":
            self.core.cluster.set_node(node(name, cpu=4, memory="8Gi"))
        self._before = {}

    def schedule(self, subject):
        outcome = self.core.cycle(QueuedPod.of(subject)).run()
        assert isinstance(outcome, Placed)
        self.core.services.pod_classes.check_invariants()
        return outcome.record

    def asked(self, point):
        """The plugins that were asked at this point since the last time."""
        counts = self.core.profiles["default-scheduler"].calls.at(point)
        now = {name: count.calls for name, count in counts.items()}
        before, self._before = self._before.get(point, {}), {**self._before, point: now}
        return {name for name, calls in now.items() if calls > before.get(name, 0)}


# These are asked in any case: about the node that got the first pod.
BY_RESOURCES = {"NodeResourcesFit", "NodeResourcesBalancedAllocation"}
POINTS = ("PreFilter", "Filter", "PreScore", "Score")


@pytest.mark.parametrize(
    ("subject", "filters", "scores"),
    [
        pytest.param(pod("other", cpu=2), set(), set(), id="requests"),
        pytest.param(pod("other", cpu=1, image="nginx"), set(), {"ImageLocality"}, id="image"),
        pytest.param(
            pod("other", cpu=1, tolerates="gpu:"),
            {"TaintToleration"},
            {"TaintToleration"},
            id="tolerations",
        ),
    ],
)
def test_only_what_differs_is_asked_again(subject, filters, scores):
    counted = Counted()
    counted.schedule(pod("first", cpu=1))
    for point in POINTS:
        counted.asked(point)

    record = counted.schedule(subject)

    assert not record.reused
    assert counted.asked("Filter") == filters | {"NodeResourcesFit"}
    assert counted.asked("Score") == scores | BY_RESOURCES


def test_beside_a_plugin_from_outside_all_are_asked():
    """It may have left something in the cycle state that another plugin of its author reads."""

    class Outside(fwk.FilterPlugin):
        name = "Outside"
        __module__ = "elsewhere"

        def sign(self, subject):
            return ()

        def filter(self, state, subject, each):
            return fwk.SUCCESS

    counted = Counted(Outside)
    counted.schedule(pod("first", cpu=1))
    for point in POINTS:
        counted.asked(point)

    counted.schedule(pod("other", cpu=2))

    assert {"Outside", "TaintToleration", "NodeName"} <= counted.asked("Filter")
