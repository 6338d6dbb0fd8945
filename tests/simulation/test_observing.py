"""A simulation that observes a real cluster has exactly its objects, and keeps no history."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from podium.api.objects import PersistentVolumeClaim
from podium.errors import SimulationError
from podium.simulation import Simulation
from podium.testing.builders import node, pod
from podium.testing.builders_storage import claim
from tests.support.search import examples

KINDS = ("Pod", "Node", "PersistentVolumeClaim")


def versioned(obj, version, uid=None):
    meta = replace(obj.metadata, resource_version=str(version), uid=uid or obj.uid or obj.key)
    return replace(obj, metadata=meta)


def observe(simulation, changes):
    with simulation.observing() as take:
        for (kind, key), obj in changes.items():
            take(kind, key, obj)


class Following(RuleBasedStateMachine):
    """Changes of a plain dict are collected by object, as watches do, and observed in batches."""

    names = st.sampled_from(["a", "b", "c"])

    def __init__(self):
        super().__init__()
        self.numbers = count(1)
        self.model = {("Node", "a"): versioned(node("a", cpu="4"), next(self.numbers))}
        self.changed = {}
        self.simulation = Simulation.from_objects(self.model.values())
        self.old_fork = self.simulation.fork()

    def put(self, kind, obj, *, is_new=False):
        version = next(self.numbers)
        known = self.model.get((kind, obj.key))
        uid = known.uid if known is not None and not is_new else f"uid-{version}"
        self.model[kind, obj.key] = self.changed[kind, obj.key] = versioned(obj, version, uid)

    @rule(name=names, cpu=st.sampled_from("123"), where=st.sampled_from(["", "a", "b"]),
          is_new=st.booleans(), phase=st.sampled_from(["", "", "Succeeded"]))  # fmt: skip
    def pod(self, name, cpu, where, is_new, phase):
        """Create, update, bind or end a pod; a new one may replace it under the same name."""
        known = self.model.get(("Pod", f"default/{name}"))
        if known is not None and not is_new and known.node_name:
            where = known.node_name  # a pod never leaves its node
        obj = pod(name, cpu=cpu, node=where)
        self.put("Pod", replace(obj, status=replace(obj.status, phase=phase)), is_new=is_new)

    @rule(name=names, cpu=st.sampled_from("48"), is_new=st.booleans())
    def node(self, name, cpu, is_new):
        self.put("Node", node(name, cpu=cpu), is_new=is_new)

    @rule(name=names, is_new=st.booleans())
    def claim(self, name, is_new):
        self.put("PersistentVolumeClaim", claim(name, storage_class="slow"), is_new=is_new)

    @rule(kind=st.sampled_from(KINDS), name=names)
    def delete(self, kind, name):
        key = name if kind == "Node" else f"default/{name}"
        self.model.pop((kind, key), None)
        self.changed[kind, key] = None

    @rule()
    def list_again(self):
        """Everything is reported once more, as after a list; nothing changes by it."""
        self.changed.update(self.model)

    @rule()
    def lose_last_writes(self):
        """The server was restored from a backup: versions go back."""
        self.changed |= {key: versioned(obj, 1, obj.uid) for key, obj in self.model.items()}
        self.model |= {key: obj for key, obj in self.changed.items() if obj is not None}

    @rule()
    def ask(self):
        self.observe()
        trial = self.simulation.fork()
        trial.schedule()
        if trial.nodes:
            trial.drain(next(iter(trial.nodes)), ignore_budgets=True)
        self.old_fork = trial

    @rule()
    def observe(self):
        observe(self.simulation, self.changed)
        self.changed = {}
        self.check()

    @invariant()
    def invariants(self):
        self.simulation.core.cluster.check_invariants()
        self.simulation.queue.check_invariants()

    def check(self):
        found = {
            (kind, key): obj for kind in KINDS for key, obj in self.simulation.objects(kind).items()
        }
        assert found == self.model
        fresh = Simulation.from_objects(self.model.values())
        # Claims of a new simulation may be bound by its controllers, which no figure shows.
        assert self.simulation.figures() == fresh.figures()
        assert set(self.simulation.pending) == set(fresh.pending)

    def teardown(self):
        self.observe()
        assert history_of(self.simulation) == 1


TestFollowing = Following.TestCase
TestFollowing.settings = examples(60, stateful_step_count=25)


def test_days_of_changes_leave_no_history():
    simulation = Simulation.from_objects([node("n", cpu="4"), pod("p", node="n")])
    for version in range(1, 2_000):
        changed = versioned(pod("p", node="n", labels={"v": str(version)}), version)
        observe(simulation, {("Pod", "default/p"): changed})
        if version % 100 == 0:  # a request
            trial = simulation.fork()
            trial.add(pod("q", cpu="1"))
            trial.schedule()

    assert simulation.pods["default/p"].labels == {"v": "1999"}
    assert history_of(simulation) == 1


def history_of(simulation):
    """Return how many versions and changes the simulation keeps."""
    version, length = simulation.fork()._image.version, 0
    while version is not None:
        length += 1 + len(version.changes)
        version = version.parent
    return length


def test_an_older_fork_says_that_it_is_too_old():
    simulation = Simulation.from_objects([node("n", cpu="4"), pod("p", cpu="1")])
    fork = simulation.fork()
    observe(simulation, {("Pod", "default/p"): None})

    with pytest.raises(SimulationError, match=r"make a new one with fork\(\)"):
        fork.schedule()
    assert not simulation.pods
    assert not simulation.fork().schedule().placed


def test_what_controllers_do_is_left_to_the_real_ones():
    simulation = Simulation.from_objects([node("n", cpu="4")])
    wanted = versioned(claim("data", storage_class=""), 5)
    observe(simulation, {("PersistentVolumeClaim", "default/data"): wanted})

    (found,) = simulation.objects("PersistentVolumeClaim").values()
    assert isinstance(found, PersistentVolumeClaim)
    assert found == wanted


def test_a_rollback_returns_to_what_was_observed():
    simulation = Simulation.from_objects([node("n", cpu="4")])
    observe(simulation, {("Pod", "default/p"): versioned(pod("p", cpu="1"), 7)})
    simulation.schedule()
    simulation.rollback()

    assert set(simulation.pending) == {"default/p"}
