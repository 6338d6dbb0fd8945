"""With any mix of toy plugins, keeping what is known of equal pods changes no decision.

The toys answer by a hash of what they say they read, so that every change they read matters and no
other does. A toy without a signature for a pod answers by a hash of everything, the pod's name
included. ``test_reuse_equals_scratch`` does the same for the plugins that podium brings.
"""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.objects import Namespace, ObjectMeta
from podium.cycle.outcome import Placed
from podium.framework.status import Nominate
from podium.testing.builders import node, pod
from tests.support.cycle import Scheduler
from tests.support.search import examples
from tests.support.toys import Filter, Normalizing, PostFilter, PreFilter, PreScore, Score, Toy

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


EVERYTHING = fwk.Dependencies(node=sum(ASPECTS), cluster=sum(ASPECTS), feasible=True)


def signed(pod):
    return pod.labels.get("k")


def sometimes_signed(pod):
    """Pods of one label are signed, and of the others every second one."""
    if pod.labels.get("k") == "2" and pick(pod.name) % 2:
        raise fwk.NotSignable
    return signed(pod)


def unhashable(pod):
    return [pod.name]


def broken(pod):
    raise RuntimeError("broken")


SIGNS = (signed, signed, None, sometimes_signed, unhashable, broken)


class Base(Toy):
    """Signs the label ``k`` of pods, and hashes it with what it depends on.

    A plugin that may have no signature looks at everything. ``fails_on`` is the name of a node
    about which its Filter raises.
    """

    def __init__(self, name, depends_on, sign=signed, fails_on=""):
        self.sign = sign
        self.looks_at_names = sign is not signed
        self.fails_on = fails_on
        super().__init__(name, depends_on=EVERYTHING if self.looks_at_names else depends_on)
        self._key = type(name, (), {})  # the cycle state is keyed by type

    def put(self, state, number):
        value = self._key()
        value.number = number
        state.put(value)

    def found(self, state):
        """What was put for this pod; ``None`` where nothing was."""
        value = state.find(self._key)
        return value and value.number

    def hash_of(self, pod, *what):
        name = pod.name if self.looks_at_names and not is_signed(self, pod) else None
        return pick(self.name, pod.labels.get("k"), name, *what)


def is_signed(plugin, pod):
    if plugin.sign is not sometimes_signed:
        return plugin.sign is signed
    try:
        return plugin.sign(pod) is not None
    except fwk.NotSignable:
        return False


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
        if node.name == self.fails_on:
            raise RuntimeError("it fails here")
        known = all_facts(node, self._depends_on.cluster) if self._depends_on.cluster else None
        number = self.hash_of(pod, node.name, facts(node, self._depends_on.node), known)
        return fwk.Status.unschedulable(f"reason {number % 3}") if number % 4 == 0 else None


class Vectorised(AnyFilter):
    """Refuses by position among the nodes that it is given."""

    def filter_all(self, state, pod, nodes):
        statuses = super().filter_all(state, pod, nodes)
        return fwk.Column([*statuses.values, fwk.SUCCESS], statuses.index)


class Both(AnyPreFilter, AnyFilter):
    """Filters by what its PreFilter put, too."""

    def pre_filter(self, state, pod, nodes):
        number = self.hash_of(pod, all_facts(nodes, self._depends_on.cluster))
        if is_signed(self, pod) or number % 2:  # what another pod has put must not be seen
            self.put(state, number)
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
        if is_signed(self, pod) or number % 2:
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
kinds = st.sampled_from(
    [AnyPreFilter, AnyFilter, Vectorised, Both, AnyScore, AnyNormalizing, Prepared]
)
signs = st.sampled_from(SIGNS)
plugin_lists = st.lists(st.tuples(kinds, depends_on, signs), min_size=1, max_size=6)
failures = st.sampled_from(("", "", "", *NODES))


class Witness(PostFilter):
    """Reports what PostFilter sees: the statuses, and what filters say with the cycle's state."""

    profile = None

    def post_filter(self, state, pod, statuses):
        cluster = statuses.nodes.cluster
        seen = [(found.name, str(statuses.of(found))) for found in cluster.rows()]
        rows = fwk.Rows(cluster, statuses.rows_with(fwk.Code.UNSCHEDULABLE))
        again = [str(status) for status in self.profile.run_filters(state, pod, rows)]
        return None, fwk.Status.unschedulable(f"{seen} {sorted(state.skip_filter)} {again}")


def attempt(scheduler, subject):
    outcome = scheduler.attempt(subject)
    record = outcome.record
    common = (record.feasible, record.rejected, record.tied, record.best, record.message)
    if isinstance(outcome, Placed):
        return outcome.node_name, common
    return outcome.status, outcome.nominate, common, diagnosed(outcome.diagnosis, scheduler.cluster)


def diagnosed(diagnosis, cluster):
    if diagnosis is None:
        return None
    blamed = diagnosis.unschedulable_plugins, diagnosis.pending_plugins
    statuses = [(found.name, diagnosis.statuses.of(found)) for found in cluster.rows()]
    return blamed, diagnosis.message, statuses


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


@given(plugin_lists, steps, st.sampled_from([None, 0]), failures)
@examples(400)
def test_reuse_changes_no_decision(plugins, steps, percentage, fails_on):
    def scheduler(reuse):
        # One of them fails at most: which of two failures is reported first may differ.
        parts = [
            kind(f"P{n}", depends_on, sign, "" if n else fails_on)
            for n, (kind, depends_on, sign) in enumerate(reversed(plugins))
        ]
        witness = Witness("W")
        made = Scheduler(
            *reversed(parts), witness, nodes="abcdef", percentage=percentage, reuse=reuse
        )
        witness.profile = made.profile
        return made

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
