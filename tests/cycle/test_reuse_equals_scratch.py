"""What is kept from equal pods never changes a decision, whatever happens in between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import app
from podium import framework as fwk
from podium.config import default
from podium.framework.queued_pod import QueuedPod
from podium.testing.builders import node, pod
from podium.testing.cases import replica
from tests.support.clusters import Cluster, clusters, pods
from tests.support.configurations import with_legacy
from tests.support.reuse import CHANGED, CONFIGURATIONS, EVENTS, Pair
from tests.support.search import examples


@examples(150)
@given(cluster=clusters(), data=st.data())
def test_reuse_equals_scratch(cluster, data):
    pair = Pair(cluster, data.draw(CONFIGURATIONS), data.draw(CHANGED))
    templates = [data.draw(pods("t1")), data.draw(pods("t2", plain=True))]
    for number in range(data.draw(st.integers(1, 14))):
        if data.draw(st.booleans()):
            pair.attempt(replica(data.draw(st.sampled_from(templates)), f"r{number}"))
        else:
            data.draw(st.sampled_from(EVENTS))(pair, number, data.draw)
    pair.each(lambda core: core.cluster.check_invariants())


@pytest.mark.parametrize("configuration", [default(app.in_tree()), with_legacy()])
def test_both_cores_have_plugins_that_work(configuration):
    """Two cores that fail alike would agree too."""
    pair = Pair(Cluster(nodes=[node("n1")]), configuration)

    outcomes = pair.each(lambda core: core.cycle(QueuedPod.of(pod("p"))).run())

    codes = {outcome.status.code for outcome in outcomes}
    assert codes <= {fwk.Code.SUCCESS, fwk.Code.UNSCHEDULABLE}
