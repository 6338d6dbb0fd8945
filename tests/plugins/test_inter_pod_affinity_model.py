"""InterPodAffinity on random clusters: against a slow model, in dry runs, and reused."""

from collections.abc import Hashable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import Pod
from podium.release import LATEST, RELEASES, Release
from podium.testing.builders import node, pod
from tests.support.inter_pod_affinity import Model, Subject, affinity, namespace, term

HOSTS = ("n0", "n1", "n2", "n3", "n4")
SPACES = ("default", "red", "unknown")

labels = st.fixed_dictionaries(
    {}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.just("front")}
)
selectors = st.sampled_from([None, "", "app=web", "app=web,db tier", "app!=web", "!tier", "tier"])
scopes = st.sampled_from(
    [
        {},
        {},
        {"namespaces": ["red", "unknown"]},
        {"namespaceSelector": ""},
        {"namespaceSelector": "color=red"},
        {"namespaceSelector": "color!=red"},
        {"namespaces": ["default"], "namespaceSelector": "color"},
    ]
)
keys = st.sampled_from(["zone", "rack", "host"])
terms = st.builds(lambda text, key, scope: term(text, key, **scope), selectors, keys, scopes)
weighted = st.tuples(st.sampled_from([1, 5, 100]), terms)
some = {"max_size": 2}
affinities = st.none() | st.builds(
    affinity,
    st.lists(terms, **some),
    st.lists(terms, **some),
    st.lists(weighted, **some),
    st.lists(weighted, **some),
)
node_labels = st.fixed_dictionaries(
    {},
    optional={"zone": st.sampled_from("ab"), "rack": st.sampled_from("xy"), "host": st.just("?")},
)
space_labels = st.sampled_from(["", "color=red", "color=blue"])
arguments = st.fixed_dictionaries(
    {
        "hard_pod_affinity_weight": st.sampled_from([0, 1, 100]),
        "ignore_preferred_terms_of_existing_pods": st.booleans(),
    }
)


@st.composite
def pods(draw: st.DrawFn, name: str, on: tuple[str, ...] = ("",)) -> Pod:
    gone = draw(st.booleans())
    return pod(
        name,
        node=draw(st.sampled_from(on)),
        namespace=draw(st.sampled_from(SPACES)),
        labels=draw(labels),
        affinity=draw(affinities),
        deletion_timestamp="2026-01-01T00:00:00Z" if gone else "",
    )


@st.composite
def placed_pods(draw: st.DrawFn, prefix: str, on: tuple[str, ...] = (*HOSTS, "ghost")) -> list[Pod]:
    return [draw(pods(f"{prefix}{i}", on)) for i in range(draw(st.integers(0, 6)))]


@st.composite
def clusters(draw: st.DrawFn) -> list[Any]:
    """Nodes, namespaces, and pods of which some are on nodes that are not there."""
    nodes = [labelled(name, draw(node_labels)) for name in HOSTS[: draw(st.integers(1, 5))]]
    spaces = [namespace("default", draw(space_labels)), namespace("red", draw(space_labels))]
    return [*nodes, *spaces, *draw(placed_pods("p"))]


def labelled(name: str, given_labels: dict[str, str]) -> Any:
    return node(name, labels={k: name if v == "?" else v for k, v in given_labels.items()})


def model_of(objects: list[Any], release: Release = LATEST, **args: Any) -> Model:
    by_kind: dict[str, list[Any]] = {"Node": [], "Pod": [], "Namespace": []}
    for obj in objects:
        by_kind[type(obj).__name__].append(obj)
    return Model(
        by_kind["Node"],
        by_kind["Pod"],
        by_kind["Namespace"],
        args.get("hard_pod_affinity_weight", 1),
        args.get("ignore_preferred_terms_of_existing_pods", False),
        release,
    )


@pytest.mark.parametrize("release", RELEASES, ids=str)
@given(objects=clusters(), incoming=pods("me"), args=arguments)
def test_agrees_with_the_model(release, objects, incoming, args):
    subject = Subject(*objects, release=release, **args)
    model = model_of(objects, release, **args)

    assert subject.filter(incoming) == model.filter(incoming)
    assert subject.scores(incoming) == model.scores(incoming)


@given(clusters(), pods("me"), st.data())
def test_nodes_that_left_count_no_more(objects, incoming, data):
    subject = Subject(*objects)
    names = subject.cluster.rows().names
    gone = data.draw(st.sets(st.sampled_from(names), max_size=len(names) - 1))
    for name in gone:
        subject.cluster.remove_node(name)
    model = model_of([obj for obj in objects if obj.name not in gone])

    assert subject.filter(incoming) == model.filter(incoming)
    assert subject.scores(incoming) == model.scores(incoming)


@given(clusters(), pods("me"), placed_pods("new", HOSTS), st.data())
def test_each_row_of_a_dry_run_is_a_world_of_its_own(objects, incoming, coming, data):
    subject = Subject(*objects)
    nodes = subject.cluster.rows()
    before = subject.filter(incoming)
    coming = [info for info in map(fwk.PodInfo, coming) if info.pod.node_name in nodes.names]
    placed = [i for i in subject.cluster.pods.values() if i.pod.node_name in nodes.names]
    going = data.draw(st.lists(st.sampled_from(placed), unique=True)) if placed else []
    state = fwk.CycleState()
    if subject.plugin.pre_filter(state, incoming, nodes) is fwk.skip():
        return

    world, copy = nodes_with(subject, coming, going), state.clone()
    subject.plugin.remove_pods(copy, incoming, on_rows(world, going))
    for info in coming:  # one by one here, all at once there
        there = fwk.NodeInfo(subject.cluster, int(rows_of(world, [info])[0]), world.overlay)
        subject.plugin.add_pod(copy, incoming, info, there)
    found = subject.plugin.filter_all(copy, incoming, world)

    assert list(found) == [subject.plugin.filter(copy, incoming, each) for each in world]
    for name, status in zip(world.names, found, strict=True):
        gone = {info.pod.name for info in going if info.pod.node_name == name}
        come = [info.pod for info in coming if info.pod.node_name == name]
        left = [obj for obj in objects if obj.name not in gone]
        expected = model_of(left + come).filter(incoming)
        assert status.message == (expected[name] if expected else "")
    assert subject.filter(incoming) == before


def nodes_with(subject: Subject, coming: list[Any], going: list[Any]) -> fwk.Rows:
    nodes = subject.cluster.rows()
    overlay = subject.cluster.overlay(nodes.index)
    overlay.remove(going, rows_of(nodes, going))
    overlay.add(coming, rows_of(nodes, coming))
    return subject.cluster.rows(overlay)


def on_rows(nodes: fwk.Rows, infos: list[Any]) -> fwk.PodsOnRows:
    return fwk.PodsOnRows(nodes, infos, rows_of(nodes, infos))


def rows_of(nodes: fwk.Rows, infos: list[Any]) -> Any:
    return np.array([nodes.cluster.row_of(info.pod.node_name) for info in infos], np.intp)


@given(clusters(), pods("me"), labels, arguments)
def test_pods_with_equal_signatures_get_equal_answers(objects, incoming, others, args):
    subject = Subject(*objects, **args)
    meta = msgspec.structs.replace(incoming.metadata, labels=others)
    other = msgspec.structs.replace(incoming, metadata=meta)

    if subject.plugin.sign(incoming) == subject.plugin.sign(other):
        assert answers(subject, incoming) == answers(subject, other)


class Kept:
    """What the scheduler does with answers: keeps them until something they depend on changes."""

    def __init__(self, subject: Subject, incoming: Pod) -> None:
        self.reads = subject.plugin.depends_on(incoming)
        self.refresh(subject, incoming)

    def is_outdated(self, subject: Subject) -> bool:
        entries = subject.cluster.journal.since(self.mark)
        assert entries is not None
        return any(aspects & self.reads.cluster for _, aspects in entries)

    def refresh(self, subject: Subject, incoming: Pod) -> None:
        self.answers = answers(subject, incoming)
        self.mark = subject.cluster.journal.end


def answers(subject: Subject, incoming: Pod) -> Any:
    return subject.filter(incoming), subject.scores(incoming)


changes = st.one_of(
    st.tuples(st.just("place"), placed_pods("q")),
    st.tuples(st.just("remove"), st.integers(0, 5)),
    st.tuples(st.just("label"), node_labels),
    st.tuples(st.just("namespace"), space_labels),
)


@given(clusters(), st.lists(pods("me"), min_size=2, max_size=3), st.lists(changes), arguments)
def test_kept_answers_stay_true(objects, incoming, history, args):
    subject = Subject(*objects, **args)
    kept: dict[Hashable, Kept] = {}
    for step, (what, value) in enumerate([("nothing", None), *history]):
        change(subject, step, what, value)
        for each in incoming:
            signature = subject.plugin.sign(each)
            known = kept.setdefault(signature, Kept(subject, each))
            if known.is_outdated(subject):
                known.refresh(subject, each)
            assert known.answers == answers(subject, each)


def change(subject: Subject, step: int, what: str, value: Any) -> None:
    cluster = subject.cluster
    if what == "place":
        for each in value:
            uid = f"{each.uid}-{step}"
            meta = msgspec.structs.replace(each.metadata, uid=uid)
            cluster.add_pod(msgspec.structs.replace(each, metadata=meta))
    elif what == "remove" and len(cluster.pods) > value:
        cluster.remove_pod(list(cluster.pods.values())[value].pod)
    elif what == "label":
        cluster.set_node(labelled(HOSTS[0], value))
    elif what == "namespace":
        cluster.set_object(namespace("red", value))
    cluster.check_invariants()
