"""Any sequence of writes: the columns stay what a plain model says."""

from contextlib import contextmanager

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from podium.api.objects import Namespace, ObjectMeta, Service, ServiceSpec
from podium.api.selectors import from_map
from podium.errors import CacheError
from podium.state.aspects import NOWHERE, Aspect
from podium.state.cluster import ClusterState
from podium.state.pod_groups import Clause, PodQuery
from podium.state.pod_info import PodInfo
from tests.support import snapshots
from tests.support.cluster_model import Model, Placed
from tests.support.clusters import NAMESPACES
from tests.support.clusters import nodes as node_objects
from tests.support.clusters import pods as pod_objects
from tests.support.search import examples

NODES = ("a", "b", "c", "d")
PODS = tuple(f"p{number}" for number in range(6))
RESOURCES = ("cpu", "memory", "pods", "example.com/gpu")
QUERIES = [
    PodQuery((Clause(frozenset(["default"]), from_map({"app": "web"})),)),
    PodQuery((Clause(None, from_map({"app": "db"})),), terminating=False),
    PodQuery((Clause(None, from_map({})),)),
    PodQuery((Clause(None, from_map({"x": "p1"})), Clause(None, from_map({"app": "web"})))),
]

names = st.sampled_from(NODES)
pod_names = st.sampled_from(PODS)


@contextmanager
def refused(state):
    """The write inside raises, and changes nothing."""
    before = snapshots.of_cluster(state)
    try:
        yield
    except CacheError:
        assert snapshots.of_cluster(state) == before
    else:
        raise AssertionError("it was accepted")


class Machine(RuleBasedStateMachine):
    @initialize()
    def start(self):
        self.state, self.model = ClusterState(), Model()
        self.mark, self.facts, self.structure = 0, {}, 0
        self.elsewhere = ({}, {})

    # --- nodes ---------------------------------------------------------------------------------

    @rule(name=names, data=st.data())
    def set_node(self, name, data):
        fresh = data.draw(node_objects(name))
        self.state.set_node(fresh)
        self.model.nodes[name] = fresh

    @rule(name=names)
    def heartbeat(self, name):
        if name in self.model.nodes:
            node = self.model.nodes[name]
            meta = msgspec.structs.replace(node.metadata, resource_version="9")
            end = self.state.journal.end
            self.model.nodes[name] = msgspec.structs.replace(node, metadata=meta)
            self.state.set_node(self.model.nodes[name])
            assert self.state.journal.end == end

    @rule(name=names)
    def remove_node(self, name):
        if name in self.model.nodes:
            self.state.remove_node(name)
            del self.model.nodes[name]
        else:
            with refused(self.state):
                self.state.remove_node(name)

    # --- pods ----------------------------------------------------------------------------------

    @rule(name=pod_names, on=names, data=st.data())
    def add_pod(self, name, on, data):
        fresh = data.draw(pod_objects(name, on=on))
        known = self.model.pods.get(fresh.uid)
        if known is not None and not known.is_assumed:
            with refused(self.state):
                self.state.add_pod(fresh)
        else:
            self.state.add_pod(fresh)
            self.model.pods[fresh.uid] = Placed(fresh, on)

    @rule(placed=st.lists(st.tuples(pod_names, names), max_size=4), data=st.data())
    def add_pods(self, placed, data):
        fresh = [data.draw(pod_objects(name, on=on)) for name, on in placed]
        uids = {each.uid for each in fresh}
        if len(uids) < len(fresh) or uids & self.model.pods.keys():
            with refused(self.state):
                self.state.add_pods(fresh)
        else:
            self.state.add_pods(fresh)
            on = [on for _, on in placed]
            self.model.pods |= {
                each.uid: Placed(each, at) for each, at in zip(fresh, on, strict=True)
            }

    @rule(name=pod_names, on=names, data=st.data())
    def update_pod(self, name, on, data):
        fresh = data.draw(pod_objects(name, on=on))
        known = self.model.pods.get(fresh.uid)
        if known is None or known.is_assumed:
            with refused(self.state):
                self.state.update_pod(fresh)
        else:
            self.state.update_pod(fresh)
            self.model.pods[fresh.uid] = Placed(fresh, on)

    @rule(name=pod_names, data=st.data())
    def remove_pod(self, name, data):
        gone = data.draw(pod_objects(name, on="a", plain=True))  # any version will do
        if gone.uid in self.model.pods:
            self.state.remove_pod(gone)
            del self.model.pods[gone.uid]
        else:
            with refused(self.state):
                self.state.remove_pod(gone)

    @precondition(lambda self: self.model.nodes)
    @rule(name=pod_names, data=st.data())
    def assume(self, name, data):
        on = data.draw(st.sampled_from(sorted(self.model.nodes)))
        pending = data.draw(pod_objects(name))
        row = self.state.table.live_row(on)
        if pending.uid in self.model.pods:
            with refused(self.state):
                self.state.assume(PodInfo(pending), row)
        else:
            self.state.assume(PodInfo(pending), row)
            self.model.pods[pending.uid] = Placed(pending, on, is_assumed=True)

    @rule(name=pod_names)
    def forget(self, name):
        uid = f"uid-{name}"
        known = self.model.pods.get(uid)
        if known is not None and not known.is_assumed:
            with refused(self.state):
                self.state.forget(uid)
        else:
            self.state.forget(uid)
            self.model.pods.pop(uid, None)

    # --- other objects -------------------------------------------------------------------------

    @rule(name=st.sampled_from(NAMESPACES), team=st.sampled_from("xy"))
    def set_namespace(self, name, team):
        fresh = Namespace(metadata=ObjectMeta(name=name, labels={"team": team}))
        self.state.set_object(fresh)
        self.model.namespaces[name] = fresh

    @rule(name=st.sampled_from(NAMESPACES))
    def remove_namespace(self, name):
        self.state.remove_object(Namespace, name)
        self.model.namespaces.pop(name, None)

    @rule(space=st.sampled_from(NAMESPACES), app=st.sampled_from(("web", "db")))
    def set_service(self, space, app):
        meta = ObjectMeta(name="svc", namespace=space)
        fresh = Service(metadata=meta, spec=ServiceSpec(selector={"app": app}))
        self.state.set_object(fresh)
        self.model.services[fresh.key] = fresh

    @rule(space=st.sampled_from(NAMESPACES))
    def remove_service(self, space):
        self.state.remove_object(Service, f"{space}/svc")
        self.model.services.pop(f"{space}/svc", None)

    # --- reading: it builds columns, which must be right from then on --------------------------

    @rule(query=st.sampled_from(QUERIES))
    def ask_counts(self, query):
        nodes = self.state.rows()
        expected = [self.model.count(name, query) for name in nodes.names]
        assert nodes.count_pods(query).tolist() == expected

    @rule(resource=st.sampled_from(RESOURCES))
    def ask_free(self, resource):
        nodes = self.state.rows()
        expected = [self.model.free(name, resource) for name in nodes.names]
        assert nodes.free(resource).tolist() == expected

    @rule(resource=st.sampled_from(("cpu", "memory")), priority=st.integers(0, 11))
    def ask_below(self, resource, priority):
        table = self.state.table
        sums = table.resources.requested_below(priority)
        for name in self.model.nodes:
            found = int(sums[table.resources.index[resource], table.live_row(name)])
            assert found == self.model.below(name, resource, priority)

    @rule(key=st.sampled_from(("disk", "topology.kubernetes.io/zone", "kubernetes.io/hostname")))
    def ask_label(self, key):
        nodes = self.state.rows()
        view = nodes.labels[key]
        found = [view.values[n] if n >= 0 else None for n in view.numbers.tolist()]
        assert found == [self.model.nodes[name].labels.get(key) for name in nodes.names]

    # --- after every step ----------------------------------------------------------------------

    @invariant()
    def adds_up(self):
        self.state.check_invariants()

    @invariant()
    def agrees(self):
        state, model = self.state, self.model
        nodes = state.rows()
        assert sorted(nodes.names) == sorted(model.nodes)
        assert [found.node for found in nodes] == [model.nodes[name] for name in nodes.names]
        assert list(nodes.taints) == [model.nodes[name].spec.taints for name in nodes.names]
        for found in nodes:
            assert {info.uid for info in found.pods} == {p.pod.uid for p in model.on(found.name)}
            assert found.free("cpu") == model.free(found.name, "cpu")
        assert state.pods.keys() == model.pods.keys()
        for uid, placed in model.pods.items():
            assert state.is_assumed(uid) == placed.is_assumed
            assert state.table.names[state.pods[uid].row] == placed.on
        for name in NAMESPACES:
            known = model.namespaces.get(name)
            assert state.namespace_labels(name) == (known.labels if known else {})
            assert list(state.objects(Service).in_namespace(name)) == [
                service for service in model.services.values() if service.namespace == name
            ]

    @invariant()
    def journal_tells_all(self):
        """Whatever changed on a node that stayed is in the journal with its row."""
        state, model = self.state, self.model
        told: dict[int, int] = {}
        for row, aspects in state.journal.since(self.mark):
            told[row] = told.get(row, 0) | aspects
        facts = {name: model.facts(name) for name in model.nodes}
        if state.table.structure == self.structure:
            for name, now in facts.items():
                differ = sum(bit for bit, fact in now.items() if fact != self.facts[name][bit])
                assert not differ & ~told.get(state.table.live_row(name), 0)
        elsewhere = (dict(model.namespaces), dict(model.services))
        for bit, now, then in zip(
            (Aspect.NAMESPACES, Aspect.WORKLOADS), elsewhere, self.elsewhere, strict=True
        ):
            assert now == then or told.get(NOWHERE, 0) & bit
        self.mark, self.structure = state.journal.end, state.table.structure
        self.facts, self.elsewhere = facts, elsewhere


TestCluster = Machine.TestCase
TestCluster.settings = examples(40, stateful_step_count=40)
