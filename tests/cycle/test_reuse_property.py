"""With any mix of toy plugins, keeping what is known of equal pods changes no decision.

The toys answer by a hash of what they say they read, so that every change they read matters and no
other does. ``test_reuse_equals_scratch`` does the same for the plugins that podium brings.
"""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import Namespace, ObjectMeta
from podium.cycle.outcome import Placed
from podium.framework.status import Nominate
from tests.support.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.search import examples
from tests.support.toys import Filter, Normalizing, PreFilter, PreScore, Score, Toy

NODES = "abcdef"
LABELS = ("k=1", "k=2")
ASPECTS = (fwk.Aspect.LABELS, fwk.Aspect.PODS, fwk.Aspect.TAINTS, fwk.Aspect.NAMESPACES)


def pick(salt, *what):
    return crc32(repr((salt, *what)).encode())


def facts(node, aspects):
    """What these aspects of one node say."""
    return (
        sorted(node.labels.items()) if aspects & fwk.Aspect.LABELS else None,
        sorted(info.uid for info in node.pods) if aspects & fwk.Aspect.PODS else None,
        node.taints if aspects & fwk.Aspect.TAINTS else None,
    )


def all_facts(nodes, aspects):
    """What these aspects say of the whole cluster, pods on ghost rows included."""
    cluster = nodes.cluster
    spaces = sorted(space.name for space in cluster.objects(Namespace))
    placed = sorted((info.uid, info.row) for info in cluster.pods.values())
    return (
        [(found.name, facts(found, aspects)) for found in cluster.rows()],
        placed if aspects & fwk.Aspect.PODS else None,
        spaces if aspects & fwk.Aspect.NAMESPACES else None,
    )


class Base(Toy):
    """Signs the label ``k`` of pods, and hashes it with what it depends on."""

    def __init__(self, name, depends_on):
        super().__init__(name, depends_on=depends_on)
        self._key = type(name, (), {})  # the cycle state is keyed by type

    def put(self, state, number):
        value = self._key()
        value.number = number
        state.put(value)

    def found(self, state):
        return state.get(self._key).number

    def sign(self, pod):
        return pod.labels.get("k")

    def hash_of(self, pod, *what):
        return pick(self.name, pod.labels.get("k"), *what)


class AnyPreFilter(Base, PreFilter):
    def pre_filter(self, state, pod, nodes):
        number = self.hash_of(pod, all_facts(nodes, self._depends_on.cluster))
        some = frozenset(name for place, name in enumerate(NODES) if number >> 8 + place & 1)
        return {
            0: fwk.skip(),
            1: fwk.Status.unschedulable("not now"),
            2: fwk.Status.unresolvable("never"),
            3: fwk.PreFilterResult(some),
        }.get(number % 8)


class AnyFilter(Base, Filter):
    def filter(self, state, pod, node):
        known = all_facts(node, self._depends_on.cluster) if self._depends_on.cluster else None
        number = self.hash_of(pod, node.name, facts(node, self._depends_on.node), known)
        return fwk.Status.unschedulable(f"reason {number % 3}") if number % 4 == 0 else None


class Both(AnyPreFilter, AnyFilter):
    """Filters by what its PreFilter put, too."""

    def pre_filter(self, state, pod, nodes):
        self.put(state, self.hash_of(pod, all_facts(nodes, self._depends_on.cluster)))
        return super().pre_filter(state, pod, nodes)

    def filter(self, state, pod, node):
        number = self.hash_of(pod, self.found(state), node.name)
        return super().filter(state, pod, node) if number % 2 else None


class AnyScore(Base, Score):
    def score(self, state, pod, node):
        known = (
            all_facts(node, self._depends_on.for_scores) if self._depends_on.for_scores else None
        )
        return self.hash_of(pod, node.name, facts(node, self._depends_on.node), known) % 5


class AnyNormalizing(AnyScore, Normalizing):
    """Scaled over the feasible nodes."""


class Prepared(AnyScore, PreScore):
    """Scores by what its PreScore found, which may skip."""

    def pre_score(self, state, pod, nodes):
        names = nodes.names if self._depends_on.feasible else None
        number = self.hash_of(pod, names, all_facts(nodes, self._depends_on.for_scores))
        self.put(state, number)
        return fwk.skip() if number % 3 == 0 else None

    def score(self, state, pod, node):
        known = facts(node, self._depends_on.node)
        return self.hash_of(pod, self.found(state), node.name, known) % 5


aspects = st.lists(st.sampled_from(ASPECTS), max_size=2, unique=True).map(sum)
depends_on = st.builds(
    fwk.Dependencies,
    node=aspects,
    cluster=aspects,
    feasible=st.booleans(),
    scoring=st.one_of(st.none(), aspects),
)
kinds = st.sampled_from([AnyPreFilter, AnyFilter, Both, AnyScore, AnyNormalizing, Prepared])
plugin_lists = st.lists(st.tuples(kinds, depends_on), min_size=1, max_size=5)


def attempt(scheduler, subject):
    outcome = scheduler.attempt(subject)
    record = outcome.record
    common = (record.feasible, record.rejected, record.tied, record.best, record.message)
    if isinstance(outcome, Placed):
        return outcome.node_name, common
    return outcome.status, outcome.nominate, common


class Step:
    """Changes that are made to both schedulers alike; numbers say to what."""

    @staticmethod
    def place(scheduler, number, name):
        uid = f"uid-x{number}"
        if uid not in scheduler.cluster.pods:
            scheduler.cluster.add_pod(pod(f"x{number}", node=name))

    @staticmethod
    def remove(scheduler, number, name):
        info = scheduler.cluster.pods.get(f"uid-x{number}")
        if info is not None:
            scheduler.cluster.remove_pod(info.pod)

    @staticmethod
    def set_node(scheduler, number, name):
        taints = "t:NoSchedule" if number % 3 == 0 else ""
        scheduler.cluster.set_node(node(name, labels=f"v={number % 2}", taints=taints))

    @staticmethod
    def remove_node(scheduler, number, name):
        if scheduler.cluster.node(name) and number % 4 == 0:
            scheduler.cluster.remove_node(name)

    @staticmethod
    def namespace(scheduler, number, name):
        key = f"space{number % 2}"
        if scheduler.cluster.objects(Namespace).get(key):
            scheduler.cluster.remove_object(Namespace, key)
        else:
            scheduler.cluster.set_object(Namespace(metadata=ObjectMeta(name=key)))

    @staticmethod
    def nominate(scheduler, number, name):
        nominator = scheduler.services.nominator
        if len(nominator):
            nominator.remove("uid-waiting")
        else:
            nominator.add(fwk.PodInfo(pod("waiting", priority=5)), Nominate(name))


CHANGES = [getattr(Step, name) for name in vars(Step) if not name.startswith("_")]
changes = st.tuples(st.sampled_from(CHANGES), st.integers(0, 9), st.sampled_from(NODES))
pods = st.tuples(st.sampled_from(LABELS), st.sampled_from(("", "", "", *NODES)))  # label, nominated
steps = st.lists(st.one_of(pods, changes), min_size=4, max_size=25)


@given(plugin_lists, steps, st.sampled_from([None, 0]))
@examples(250)
def test_reuse_changes_no_decision(plugins, steps, percentage):
    def scheduler(reuse):
        parts = [
            kind(f"P{n}", depends_on=depends_on) for n, (kind, depends_on) in enumerate(plugins)
        ]
        return Scheduler(*parts, nodes="abcd", percentage=percentage, reuse=reuse)

    keeping, scratch = scheduler(reuse=True), scheduler(reuse=False)
    for number, step in enumerate(steps):
        if len(step) == 2:
            labels, nominated = step
            status = {"nominated_node_name": nominated}
            subject = pod(f"p{number}", labels=labels, status=status)
            assert attempt(keeping, subject) == attempt(scratch, subject)
        else:
            change, which, name = step
            change(keeping, which, name)
            change(scratch, which, name)
