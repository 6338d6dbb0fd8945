"""Plugins with mistakes in them: the pod is told what to mend, and other pods go on."""

import numpy as np
import pytest

import podium
from podium import framework as fwk
from podium.testing import Cluster, node, pod


def events_of(cluster, name):
    return {event["reason"]: event["message"] for event in cluster.events_of(name)}


def on_bad_pods(answer):
    """The mistake is made for pods with the label ``bad``."""

    def decided(pod, good):
        return answer() if "bad" in pod.labels else good

    return decided


def filter_returning(answer):
    decided = on_bad_pods(answer)

    @podium.filter
    def far(pod, nodes):
        return decided(pod, np.ones(len(nodes), bool))

    return far


def score_returning(answer):
    decided = on_bad_pods(answer)

    @podium.score
    def best(pod, nodes):
        return decided(pod, np.ones(len(nodes), int))

    return best


@pytest.mark.parametrize(
    ("plugin", "why"),
    [
        pytest.param(
            filter_returning(lambda: np.ones(3, bool)),
            'running "far" filter plugin: far() returned 3 answers for 2 nodes; return one answer '
            "for each of `nodes`, in their order",
            id="filter-length",
        ),
        pytest.param(
            filter_returning(lambda: np.ones(2)),
            'running "far" filter plugin: far() returned an array of float64; a filter of `nodes` '
            "returns an array with True or False for each node",
            id="filter-floats",
        ),
        pytest.param(
            filter_returning(lambda: "no"),
            "far() returned str 'no'; a filter of `nodes` returns an array",
            id="filter-type",
        ),
        pytest.param(
            score_returning(lambda: np.array([0.5, 1])),
            'plugin "best" failed with: best() returned an array of float64; a score of `nodes` '
            "returns an array with a whole number for each node",
            id="score-floats",
        ),
        pytest.param(
            score_returning(lambda: np.zeros(7, int)),
            "best() returned 7 answers for 2 nodes",
            id="score-length",
        ),
    ],
)
def test_a_function_of_nodes_that_returns_something_else(plugin, why):
    with Cluster(plugins=[plugin]) as cluster:
        cluster.create(node("n1"), node("n2"), pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        assert why in cluster.why_pending("odd")
        assert why[:100] in events_of(cluster, "odd")["FailedScheduling"]
        assert cluster.node_of("web") is not None


class Keeps(fwk.FilterPlugin):
    """Keeps the view of the first cycle and looks at it in the next one."""

    name = "Keeps"

    def __init__(self, args, handle):
        self._nodes = None

    def filter_all(self, state, subject, nodes):
        if self._nodes is None:
            self._nodes = nodes
        free = self._nodes.free("cpu") if "bad" in subject.labels else nodes.free("cpu")
        return fwk.Column.where(free < 0, fwk.Status.unschedulable("full"), fwk.SUCCESS)


def test_a_view_that_is_used_after_its_cycle():
    with Cluster(plugins=[Keeps]) as cluster:
        cluster.create(node("n1"), pod("first"))
        cluster.settle()
        cluster.create(pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        why = cluster.why_pending("odd")
        assert 'running "Keeps" filter plugin: `nodes` and `node` are valid in the cycle' in why
        assert "keep what you need of them (names, arrays), or ask handle.cluster again" in why
        assert cluster.node_of("web") == "n1"


def test_a_signature_that_cannot_be_hashed():
    @podium.filter(sign=lambda pod: [pod.name] if "bad" in pod.labels else pod.name)
    def listed(pod, node):
        return True

    with Cluster(plugins=[listed]) as cluster:
        cluster.create(node("n1"), pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        told = events_of(cluster, "odd")
        assert "plugin \"listed\": sign(pod) returned ['odd']" in told["SignatureFailed"]
        assert "return a hashable value" in told["SignatureFailed"]
        assert (cluster.node_of("odd"), cluster.node_of("web")) == ("n1", "n1")


def test_a_score_of_nodes_compares_all_of_them_however_few():
    @podium.score(weight=1000)
    def smallest(nodes):
        free = nodes.free("cpu")
        return 100 * (free == free.min()).astype(int)

    with Cluster(plugins=[smallest]) as cluster:
        cluster.create(node("n1", cpu=8), node("n2", cpu=2), node("n3", cpu=4), pod("web"))
        cluster.settle()

        assert cluster.node_of("web") == "n2"


@pytest.mark.parametrize("ending", [SystemExit, GeneratorExit])
def test_a_signature_that_ends_the_program(ending):
    def sign(pod):
        if "bad" in pod.labels:
            raise ending
        return pod.name

    @podium.filter(sign=sign)
    def exits(pod, node):
        return True

    with Cluster(plugins=[exits]) as cluster:
        cluster.create(node("n1"), pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        assert f"raised {ending.__name__}" in events_of(cluster, "odd")["SignatureFailed"]
        assert (cluster.node_of("odd"), cluster.node_of("web")) == ("n1", "n1")


def relabel(node):
    node.labels["disk"] = "ssd"


def drop_label(node):
    node.node.metadata.labels.pop("zone")


def annotate(node):
    node.node.metadata.annotations.update(seen="yes")


def take_all_cpu(node):
    node.node.status.allocatable["cpu"] = 0


def change_capacity(node):
    node.node.status.capacity.clear()


@pytest.mark.parametrize("change", [relabel, drop_label, annotate, take_all_cpu, change_capacity])
def test_nodes_are_read_only(change):
    @podium.filter
    def writes(pod, node):
        if "bad" in pod.labels:
            change(node)
        return True

    with Cluster(plugins=[writes]) as cluster:
        cluster.create(node("n1", labels="zone=a"), pod("odd", labels="bad=yes"))
        cluster.settle()
        cluster.update("nodes", "n1", lambda found: found["metadata"]["labels"].update(zone="b"))
        cluster.create(pod("web"), pod("choosy", node_selector="disk=ssd"))
        cluster.settle()

        why = cluster.why_pending("odd")
        assert why.startswith(
            'running "writes" filter plugin: it tried to change a map of the node'
        )
        assert cluster.node_of("web") == "n1"
        assert "node affinity/selector" in cluster.why_pending("choosy")


class NoEquals:
    """A value that can be hashed and not be compared, and whose text cannot be had either."""

    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise RuntimeError("bad eq")

    def __repr__(self):
        raise RuntimeError("bad repr")


def test_a_signature_that_cannot_be_compared():
    @podium.filter(sign=lambda pod: NoEquals() if "bad" in pod.labels else pod.name)
    def odd(pod, node):
        return True

    with Cluster(plugins=[odd]) as cluster:
        cluster.create(node("n1"), *(pod(f"odd{n}", labels="bad=yes") for n in range(3)))
        cluster.create(pod("web"))
        cluster.settle()

        why = 'plugin "odd": sign(pod) returned a NoEquals, which cannot be compared (bad eq); '
        assert why in events_of(cluster, "odd1")["SignatureFailed"]
        assert "SignatureFailed" not in events_of(cluster, "web")
        assert {cluster.node_of(name) for name in ("odd0", "odd1", "odd2", "web")} == {"n1"}


class NoHash(NoEquals):
    def __hash__(self):
        raise RuntimeError("bad hash")


def test_a_signature_without_hash_or_text():
    @podium.filter(sign=lambda pod: NoHash() if "bad" in pod.labels else pod.name)
    def odd(pod, node):
        return True

    with Cluster(plugins=[odd]) as cluster:
        cluster.create(node("n1"), pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        why = "returned a NoHash, which cannot be hashed"
        assert why in events_of(cluster, "odd")["SignatureFailed"]
        assert (cluster.node_of("odd"), cluster.node_of("web")) == ("n1", "n1")


def test_a_pre_enqueue_that_raises():
    @podium.pre_enqueue
    def gate(pod):
        return 1 / 0 if "bad" in pod.labels else True

    with Cluster(plugins=[gate]) as cluster:
        cluster.create(node("n1"), pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        why = 'running PreEnqueue plugin "gate": division by zero'
        assert events_of(cluster, "odd") == {"FailedScheduling": why}
        assert (cluster.node_of("odd"), cluster.node_of("web")) == (None, "n1")


class Clumsy(fwk.PostFilterPlugin):
    name = "Clumsy"

    def post_filter(self, state, subject, statuses):
        raise RuntimeError("oops")


def test_a_post_filter_that_raises():
    with Cluster(plugins=[Clumsy]) as cluster:
        cluster.create(node("n1", cpu=1), pod("odd", cpu=2))
        cluster.settle()

        assert 'running PostFilter plugin "Clumsy": oops' in cluster.why_pending("odd")
        assert "Clumsy" in events_of(cluster, "odd")["FailedScheduling"]


@pytest.mark.parametrize("seconds", [float("nan"), -1, -0.5, "60", None])
def test_a_wait_that_is_not_a_time(seconds):
    @podium.permit
    def holds(pod):
        return fwk.wait(seconds) if "bad" in pod.labels else True

    with Cluster(plugins=[holds]) as cluster:
        cluster.create(node("n1"), pod("odd", labels="bad=yes"), pod("web"))
        cluster.settle()

        why = f'running Permit plugin "holds": it returned fwk.wait({seconds!r}); give the longest'
        assert cluster.why_pending("odd").startswith(why)
        assert cluster.node_of("web") == "n1"
