"""As ``test_reuse_equals_scratch``, where most nodes are feasible and scores decide."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from podium import app
from podium.config import default
from podium.testing.builders import node
from podium.testing.cases import replica
from tests.support.clusters import IMAGES, NODE_NAMES
from tests.support.configurations import with_legacy
from tests.support.reuse import (
    CHANGED,
    Pair,
    change_pod,
    change_service,
    delete,
    remove_node,
)
from tests.support.roomy_clusters import clusters, nodes, pods
from tests.support.search import examples

CONFIGURATIONS = st.sampled_from((default(app.in_tree()), with_legacy()))


def set_node(pair, number, draw):
    fresh = draw(nodes(draw(st.sampled_from(NODE_NAMES))))
    pair.each(lambda core: core.cluster.set_node(fresh))


def add_pod(pair, number, draw):
    other = draw(pods(f"added{number}", on=draw(st.sampled_from(NODE_NAMES))))
    pair.each(lambda core: core.cluster.add_pod(other))


def pull_images(pair, number, draw):
    """A node holds other images; nothing else about it changes."""
    names = [name for name in NODE_NAMES if pair.keeping.cluster.node(name) is not None]
    known = pair.keeping.cluster.node(draw(st.sampled_from(names))).node
    images = node(images=draw(st.sampled_from(IMAGES))).status.images
    fresh = replace(known, status=replace(known.status, images=images))
    pair.each(lambda core: core.cluster.set_node(fresh))


EVENTS = (delete, set_node, pull_images, remove_node, add_pod, change_service, change_pod)


@examples(100)
@given(cluster=clusters(), data=st.data())
def test_reuse_of_scores_equals_scratch(cluster, data):
    pair = Pair(cluster, data.draw(CONFIGURATIONS), data.draw(CHANGED))
    templates = [data.draw(pods("t1")), data.draw(pods("t2"))]
    for number in range(data.draw(st.integers(2, 14))):
        if data.draw(st.integers(0, 2)):
            pair.attempt(replica(data.draw(st.sampled_from(templates)), f"r{number}"))
        else:
            data.draw(st.sampled_from(EVENTS))(pair, number, data.draw)
