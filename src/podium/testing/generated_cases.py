"""Random cases: a pod, a small cluster and what happens to it; from an author's samples too."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from podium.api.meta import ApiObject
from podium.api.nodes import HOSTNAME
from podium.api.objects import Node, Pod
from podium.testing.builders import namespace, service
from podium.testing.cases import Case, Change, replica
from podium.testing.generated import NAMESPACES, NODE_NAMES, nodes, pods

Like = tuple[ApiObject, ...]
T = TypeVar("T", bound=msgspec.Struct)
Object = TypeVar("Object", bound=ApiObject)

_LABELLED = ("labels", "annotations", "namespace", "owner_references")


@st.composite
def cases(draw: st.DrawFn, like: Like = ()) -> Case:
    names = draw(st.lists(st.sampled_from(NODE_NAMES), min_size=1, unique=True))
    objects: list[ApiObject] = [draw(some_node(name, like)) for name in names]
    for number in range(draw(st.integers(0, 6))):
        on = draw(st.sampled_from(names))
        objects.append(draw(some_pod(f"p{number}", like, on=on)))
    objects += [obj for obj in _others(like) if draw(st.booleans())]
    subject = draw(some_pod("new", like))
    return Case(
        subject,
        objects,
        [replica(subject, "twin"), *draw(st.lists(_similar(subject, like), max_size=2))],
        draw(st.lists(changes(objects, like), max_size=8)),
    )


@st.composite
def some_node(draw: st.DrawFn, name: str, like: Like) -> Node:
    """A random node; or one that is like a sample, with some labels more."""
    plain = draw(nodes(name))
    samples = [obj for obj in like if isinstance(obj, Node)]
    if not samples or draw(st.integers(0, 3)) == 0:
        return plain
    sample = draw(st.sampled_from(samples))
    labels = {**plain.labels, **sample.labels, HOSTNAME: name}
    return _with_meta(sample, name=name, uid=f"uid-{name}", labels=labels)


@st.composite
def some_pod(draw: st.DrawFn, name: str, like: Like, *, on: str = "") -> Pod:
    samples = [obj for obj in like if isinstance(obj, Pod)]
    if not samples or draw(st.integers(0, 3)) == 0:
        made = draw(pods(name, on=on))
    else:
        sample = draw(st.sampled_from(samples))
        made = _with_meta(sample.bound_to(on), name=name)
    return _with_meta(made, uid=f"uid-{made.namespace}-{name}")


@st.composite
def changes(draw: st.DrawFn, objects: list[ApiObject], like: Like) -> Change:
    """Something comes or goes; or, as often, one thing about a node or a pod changes."""
    name = draw(st.sampled_from(NODE_NAMES))
    pod_name = f"p{draw(st.integers(0, 7))}"
    known = (*_others(like), namespace("other", labels="team=blue"))
    if draw(st.booleans()):
        return Change(draw(_touched(draw(st.sampled_from(objects)), like)))
    obj = draw(
        st.one_of(some_node(name, like), some_pod(pod_name, like, on=name), st.sampled_from(known))
    )
    return Change(obj, gone=draw(st.booleans()))


@st.composite
def _touched(draw: st.DrawFn, obj: ApiObject, like: Like) -> ApiObject:
    """Return the object with one part changed: only what reads that part can tell."""
    other: ApiObject
    part = "metadata"
    match obj:
        case Node():
            other = draw(some_node(obj.name, like))
            part = draw(st.sampled_from(("metadata", "metadata", "spec", "status")))
        case Pod():
            other = draw(some_pod(obj.name, like, on=obj.node_name))
        case _:
            return obj
    mine, theirs = getattr(obj, part), getattr(other, part)
    names = _LABELLED[:2] if part == "metadata" else mine.__struct_fields__
    return msgspec.structs.replace(obj, **{part: draw(_mixed(mine, theirs, names, least=1))})


@st.composite
def _similar(draw: st.DrawFn, subject: Pod, like: Like) -> Pod:
    """The pod with one or two things taken from another."""
    other = draw(some_pod("similar", like))
    spec = draw(_mixed(subject.spec, other.spec, subject.spec.__struct_fields__))
    meta = draw(_mixed(subject.metadata, other.metadata, _LABELLED))
    return _with_meta(
        msgspec.structs.replace(subject, spec=spec, metadata=meta),
        name="similar",
        uid="uid-similar",
    )


@st.composite
def _mixed(draw: st.DrawFn, one: T, other: T, names: tuple[str, ...], least: int = 0) -> T:
    differing = [name for name in names if getattr(one, name) != getattr(other, name)]
    if not differing:
        return one
    most = min(2, len(differing))
    some = st.lists(st.sampled_from(differing), min_size=least, max_size=most, unique=True)
    taken = draw(some)
    return msgspec.structs.replace(one, **{name: getattr(other, name) for name in taken})


def _others(like: Like) -> list[ApiObject]:
    known = [
        namespace(name, labels="team=blue" if name == "default" else "") for name in NAMESPACES
    ]
    return [*known, service("web"), *(obj for obj in like if not isinstance(obj, Node | Pod))]


def _with_meta(obj: Object, **fields: Any) -> Object:
    meta = msgspec.structs.replace(obj.metadata, **fields)
    return msgspec.structs.replace(obj, metadata=meta)
