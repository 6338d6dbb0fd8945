"""Score's two forms and its normalisation against a plain model, on random clusters."""

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import ObjectMeta, Service, ServiceSpec
from podium.api.selectors import from_map
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.testing.builders import pod
from podium.testing.handle import FakeHandle
from tests.support.topology_spread import (
    SOFT,
    Model,
    some_constraint,
    some_incoming,
    some_nodes,
    some_pods,
)

WEB = {"app": "web"}
SERVICE = Service(ObjectMeta(name="web", namespace="default"), ServiceSpec(WEB))


@st.composite
def some_args(draw):
    """The system's defaults, or a list with no two of one key and kind."""
    if draw(st.booleans()):
        return PodTopologySpread.Args()
    listed = draw(st.lists(some_constraint(SOFT, selectors=st.none()), min_size=1, max_size=3))
    distinct = {constraint["topologyKey"]: constraint for constraint in listed}
    args = {"defaultConstraints": list(distinct.values()), "defaultingType": "List"}
    decoded = msgspec.convert(args, PodTopologySpread.Args)
    assert not list(decoded.validate())
    return decoded


def check(model, plugin, rows):
    """Both forms, and the normalised scores, are what the model says."""
    state, feasible = fwk.CycleState(), [each.node for each in rows]
    assert plugin.pre_score(state, model.pod, rows) is None
    raw = plugin.score_all(state, model.pod, rows)
    assert [plugin.score(state, model.pod, each) for each in rows] == raw.tolist()
    expected = model.raw_scores(feasible)
    assert dict(zip(rows.names, raw.tolist(), strict=True)) == expected
    normalized = plugin.normalize_score(state, model.pod, raw, rows)
    named = dict(zip(rows.names, normalized.tolist(), strict=True))
    assert named == model.normalized(expected, feasible)


def some_rows(data, handle):
    """The feasible nodes: any part of all, but one at least."""
    rows = handle.rows.index.tolist()
    kept = [row for row in rows if data.draw(st.booleans())]
    return fwk.Rows(handle.state, np.array(kept or rows, np.intp))


@given(data=st.data())
def test_scores_by_own_constraints_are_the_models(data):
    nodes = data.draw(some_nodes())
    placed = data.draw(some_pods(nodes))
    subject = data.draw(some_incoming(SOFT))
    handle = FakeHandle(*nodes, *placed, SERVICE)
    plugin = PodTopologySpread(data.draw(some_args()), handle)

    check(Model(nodes, placed, subject), plugin, some_rows(data, handle))


@given(data=st.data(), args=some_args())
def test_scores_by_default_constraints_are_the_models(data, args):
    nodes = data.draw(some_nodes())
    placed = data.draw(some_pods(nodes))
    subject = pod(
        "incoming", labels=WEB, node_selector=data.draw(st.sampled_from(["", "disk=ssd"]))
    )
    handle = FakeHandle(*nodes, *placed, SERVICE)
    plugin = PodTopologySpread(args, handle)
    model = Model(nodes, placed, subject, args.defaults, from_map(WEB), args.is_system)

    check(model, plugin, some_rows(data, handle))
