"""Claims, classes and slices that no API server would store: only their own pods are affected."""

import asyncio
import contextlib
import copy
import gzip
import json
import logging
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.objects import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice, decode
from podium.cli.conformance import builder
from podium.cycle.outcome import Placed, Rejected
from podium.errors import PodiumError
from podium.framework.binding import run_unreserve
from podium.framework.queued_pod import QueuedPod
from podium.release import RELEASES
from podium.testing.builders import pod
from tests.support.search import examples

GOLDEN = Path(__file__).parents[2] / "data/golden/1.37"
KINDS = {
    "nodes": Node,
    "deviceclasses": DeviceClass,
    "resourceslices": ResourceSlice,
    "resourceclaims": ResourceClaim,
}
MUTATED = ("deviceclasses", "resourceslices", "resourceclaims")
ODD = [
    None, "", "x", "-1", "1.5", "9223372036854775808", "1Ei", "a/b/c", 0, -1, 2**62, True, [], {},
    [{}], {"x": "y"}, "device.attributes[", "size(device.attributes) / 0 == 1", "true",
]  # fmt: skip
BUILDERS = {release: builder(release) for release in RELEASES}


def recorded():
    for path in sorted(GOLDEN.glob("dra-*.jsonl.gz")):
        yield from map(json.loads, gzip.decompress(path.read_bytes()).splitlines()[::3])


CASES = list(recorded())


def places(value, path=()):
    """Yield the path of everything inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inside:
        yield (*path, key)
        if isinstance(each, dict | list):
            yield from places(each, (*path, key))


def mutated(cluster, chance):
    """Replace, remove or repeat something in a class, slice or claim."""
    cluster = copy.deepcopy(cluster)
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice([kind for kind in MUTATED if cluster.get(kind)])
        path = chance.choice([*places(cluster[kind])])
        inside = cluster[kind]
        for key in path[:-1]:
            inside = inside[key]
        deed = chance.choice(["replace", "remove", "repeat"])
        if deed == "replace":
            inside[path[-1]] = copy.deepcopy(chance.choice(ODD))
        elif deed == "repeat" and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[path[-1]]))
        else:
            del inside[path[-1]]
    return cluster


def fed(core, cluster):
    """Put the objects into the core as a watch does: what cannot be decoded is left out."""
    for name, kind in KINDS.items():
        for obj in cluster.get(name, ()):
            try:
                made = decode(kind, json.dumps(obj).encode())
            except PodiumError:
                continue
            if kind is Node:
                core.cluster.set_node(made)
            elif made.name:
                core.cluster.set_object(made)


@pytest.mark.parametrize("release", RELEASES, ids=str)
@examples(1000, deadline=None)
@given(number=st.integers(0, len(CASES) - 1), seed=st.integers(0, 2**32))
def test_only_the_pod_itself_is_affected(release, number, seed):
    case = CASES[number]
    core = BUILDERS[release].core(case.get("config"))
    fed(core, mutated(case["cluster"], random.Random(seed)))
    subject = decode(Pod, json.dumps(case["pod"]).encode())

    with no_fault():
        attempt(core, subject)

    assert core.services.devices.in_flight == 0
    assert seen(core, pod("plain")) == without_bad_input(release, number)
    core.cluster.check_invariants()
    if has_distinct_uids(core):
        core.services.devices.check_invariants()


@cache
def without_bad_input(release, number):
    """What becomes of a pod without claims where nothing is wrong with the objects."""
    core = BUILDERS[release].core(CASES[number].get("config"))
    fed(core, CASES[number]["cluster"])
    return seen(core, pod("plain"))


def seen(core, subject):
    outcome = core.cycle(QueuedPod.of(subject)).run()
    assert isinstance(outcome, Placed | Rejected)
    return type(outcome), outcome.record.feasible, outcome.record.message


def has_distinct_uids(core):
    """Claims are known by their uids; a mutation can take one away, or repeat it."""
    uids = [claim.uid for claim in core.cluster.objects(ResourceClaim)]
    return len(set(uids)) == len(uids)


def attempt(core, subject):
    """Try the pod; if it is placed, undo that."""
    profile = core.profiles[subject.scheduler_name]
    if profile.run_pre_enqueue(subject).ok:
        outcome = core.cycle(QueuedPod.of(subject)).run()
        assert isinstance(outcome, Placed | Rejected)
        if isinstance(outcome, Placed):
            asyncio.run(undone(run_unreserve(outcome.target)))
            core.cluster.forget(subject.uid)
    core.background.run()


async def undone(left):
    for work in left:
        await work


@contextlib.contextmanager
def no_fault():
    """No plugin raises: what is wrong with an object is reported, not met by chance."""
    faults = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = faults.append
    logging.getLogger("podium").addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger("podium").removeHandler(handler)
    assert not faults, [fault.getMessage() for fault in faults]
