"""Every plugin says the same about a node, asked for one or for all, live or in a dry run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import app
from podium import framework as fwk
from podium.config import default
from podium.framework.answers import AttemptFailed
from podium.legacy.plugins import LEGACY
from podium.plugins import IN_TREE
from podium.state.rows import PodsOnRows, Rows
from podium.testing.forms import check_filters, check_scores
from tests.support.clusters import NODE_NAMES, clusters, feed, pods
from tests.support.configurations import with_legacy
from tests.support.search import examples

CONFIGURATIONS = st.sampled_from((default(app.in_tree()), with_legacy()))


def built(cluster, draw):
    core = app.build(draw(CONFIGURATIONS))
    feed(core, cluster)
    return core


def prepared(core, pod):
    """The state after PreFilter, or ``None`` when it refused the pod."""
    profile = core.profiles["default-scheduler"]
    state = fwk.CycleState()
    try:
        pre = profile.run_pre_filters(state, pod, core.cluster.rows())
    except AttemptFailed:
        return None
    return state if pre.status.ok else None


def some_rows(draw, core):
    """A restricted view: any of the nodes, in row order."""
    rows = core.cluster.table.live_rows()
    mask = np.array(draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    return rows[mask]


def assert_filters_agree(core, state, pod, nodes):
    check_filters(core.profiles["default-scheduler"], (state, state), pod, nodes)


@examples(300)
@given(cluster=clusters(), pod=pods("new"), data=st.data())
def test_filters_agree(cluster, pod, data):
    core = built(cluster, data.draw)
    removed = data.draw(st.sampled_from((None, *NODE_NAMES)))
    if core.cluster.node(removed or "") is not None and len(cluster.nodes) > 1:
        core.cluster.remove_node(removed)
    state = prepared(core, pod)
    if state is not None:
        assert_filters_agree(core, state, pod, Rows(core.cluster, some_rows(data.draw, core)))


@examples(300)
@given(cluster=clusters(), pod=pods("new"), data=st.data())
def test_filters_agree_in_a_dry_run(cluster, pod, data):
    core = built(cluster, data.draw)
    state = prepared(core, pod)
    rows = some_rows(data.draw, core)
    if state is None or not len(rows):
        return
    profile = core.profiles["default-scheduler"]
    state = state.clone()
    overlay = core.cluster.overlay(rows)
    nodes = Rows(core.cluster, rows, overlay)
    for number in range(data.draw(st.integers(0, 3))):
        row = data.draw(st.sampled_from(rows.tolist()))
        there = core.cluster.table.pods[row].values()
        leaving = [info for info in overlay.pods_on(row) if info in there]
        place = np.array([row], np.intp)
        if leaving and data.draw(st.booleans()):
            info = data.draw(st.sampled_from(leaving))
            overlay.remove([info], place)
            profile.remove_pods(state, pod, PodsOnRows(nodes, [info], place))
        else:
            info = fwk.PodInfo(data.draw(pods(f"x{number}")))
            overlay.add([info], place)
            profile.add_pods(state, pod, PodsOnRows(nodes, [info], place))
    assert_filters_agree(core, state, pod, nodes)


@examples(300)
@given(cluster=clusters(), pod=pods("new"), data=st.data())
def test_scores_agree(cluster, pod, data):
    core = built(cluster, data.draw)
    nodes = Rows(core.cluster, some_rows(data.draw, core))
    state = prepared(core, pod)
    if state is None or not len(nodes):
        return
    check_scores(core.profiles["default-scheduler"], state, pod, nodes)


@pytest.mark.parametrize("plugin", [*IN_TREE, *LEGACY], ids=lambda plugin: plugin.name)
def test_every_judging_plugin_can_be_signed(plugin):
    judges = (fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.PreScorePlugin, fwk.ScorePlugin)
    assert not issubclass(plugin, judges) or plugin.sign is not None
