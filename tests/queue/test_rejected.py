"""Rejected pods in backoff: which are tried early, and which are passed over."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from podium.framework.queued_pod import QueuedPod
from podium.queue.rejected import RejectedPods
from podium.testing.builders import pod
from tests.support.search import examples


def waiting(name, failed_as=None, turn=0, nominated=""):
    """A rejected pod; the one with the least ``turn`` is tried first."""
    queued = QueuedPod.of(pod(name, status={"nominated_node_name": nominated}), turn)
    queued.failed_as = failed_as
    return queued


def holding(*pods):
    subject = RejectedPods(lambda queued: queued.timestamp)
    for each in pods:
        subject.push(each)
    return subject


def try_early(subject):
    """Pop a pod as the queue does; return its name."""
    queued = subject.pop_early()
    if queued is not None:
        subject.offer_next(queued)
    return queued and queued.pod.name


def try_all(subject):
    return list(iter(lambda: try_early(subject), None))


REPLICAS = [waiting(f"r{number}", failed_as=1, turn=number) for number in range(4)]


def test_pods_that_never_failed_as_others_are_tried_in_order():
    assert try_all(holding(waiting("b", turn=2), waiting("a", turn=1))) == ["a", "b"]


def test_equals_of_a_pod_that_failed_are_passed_over():
    subject = holding(*REPLICAS[1:], waiting("other", failed_as=2, turn=9))

    subject.failed(REPLICAS[0])

    assert try_all(subject) == ["other"]
    assert len(subject) == 3, "they stay until their backoff ends"


def test_a_change_lets_one_of_them_be_tried_and_no_second_one_if_it_fails():
    subject = holding(*REPLICAS[1:])
    subject.failed(REPLICAS[0])
    assert try_early(subject) is None

    assert subject.reconsider()
    assert try_early(subject) == "r1"
    subject.failed(REPLICAS[1])

    assert try_early(subject) is None


def test_all_of_them_are_tried_as_long_as_they_find_nodes():
    subject = holding(*REPLICAS[1:])
    subject.failed(REPLICAS[0])
    try_early(subject)

    subject.reconsider()

    assert try_all(subject) == ["r1", "r2", "r3"]


def test_a_pod_with_a_nomination_is_tried_whatever_its_equals_did():
    subject = holding(waiting("nominated", failed_as=1, nominated="n1"))

    subject.failed(REPLICAS[0])

    assert try_all(subject) == ["nominated"]


def test_a_pod_that_is_tried_after_its_backoff_lets_the_next_one_be_tried():
    subject = holding(*REPLICAS[1:])
    subject.failed(REPLICAS[0])
    try_early(subject)
    subject.reconsider()
    subject.remove("default/r1")  # it was the one that the change had made ready

    assert try_early(subject) == "r2"


def test_a_change_that_concerns_no_waiting_pod_offers_none():
    subject = holding(waiting("other", failed_as=2))

    subject.failed(REPLICAS[0])

    assert not subject.reconsider()


def test_backoff_ends_for_all_in_order():
    subject = holding(*REPLICAS[1:], waiting("other", turn=2.5))
    subject.failed(REPLICAS[0])
    try_all(subject)
    subject.push(waiting("between", turn=1.5))
    subject.push(waiting("late", turn=7))

    over = subject.pop_expired(lambda queued: queued.timestamp < 5)

    assert [queued.pod.name for queued in over] == ["r1", "between", "r2", "r3"]
    assert [queued.pod.name for queued in subject] == ["late"]


NAMES = tuple("abcdefgh")
names = st.sampled_from(NAMES)
classes = st.sampled_from([None, 1, 1, 1, 2])


class RejectedMachine(RuleBasedStateMachine):
    """Against a list that is searched each time; ``hopeless`` is as the class describes it."""

    def __init__(self):
        super().__init__()
        self.subject = holding()
        self.known = {}
        self.hopeless = set()
        self.tried = []

    @initialize(several=st.tuples(*[classes] * len(NAMES)))
    def all_of_them(self, several):
        for name, failed_as in zip(NAMES, several, strict=True):
            self.push(name, failed_as, 0, "")

    @rule(name=names, failed_as=classes, turn=st.integers(0, 3), node=st.sampled_from(["", "n1"]))
    def push(self, name, failed_as, turn, node):
        self.remove(name)
        queued = self.known[name] = waiting(name, failed_as, turn, node if turn == 3 else "")
        self.subject.push(queued)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), turn=st.integers(0, 3))
    def move(self, data, turn):
        queued = self.known[data.draw(st.sampled_from(sorted(self.known)))]
        queued.timestamp = turn
        self.subject.push(queued)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), failed_as=classes)
    def turn_into_another(self, data, failed_as):
        """The pod is updated."""
        queued = self.known[data.draw(st.sampled_from(sorted(self.known)))]
        self.subject.offer_next(queued)
        queued.failed_as = failed_as
        self.subject.push(queued)

    @rule(name=names)
    def remove(self, name):
        assert self.subject.remove(f"default/{name}") is self.known.pop(name, None)

    @rule()
    def pop_early(self):
        found = self.subject.pop_early()
        able = [
            queued
            for queued in self.known.values()
            if queued.failed_as not in self.hopeless or queued.pod.nominated_node_name
        ]
        assert (found is None) == (not able)
        if found is not None:
            assert found in able
            assert found.timestamp == min(queued.timestamp for queued in able)
            del self.known[found.pod.name]
            self.subject.offer_next(found)
            self.tried.append(found)

    @precondition(lambda self: self.tried)
    @rule()
    def it_fails(self):
        queued = self.tried.pop()
        self.subject.failed(queued)
        if queued.failed_as is not None:
            self.hopeless.add(queued.failed_as)

    @rule()
    def change(self):
        self.subject.reconsider()
        self.hopeless.clear()

    @rule(turn=st.integers(0, 2))
    def time_passes(self, turn):
        over = [queued for queued in self.known.values() if queued.timestamp < turn]
        found = self.subject.pop_expired(lambda queued: queued.timestamp < turn)
        assert {queued.key for queued in found} == {queued.key for queued in over}
        assert [q.timestamp for q in found] == sorted(q.timestamp for q in found)
        for queued in over:
            del self.known[queued.pod.name]

    @invariant()
    def it_holds_these(self):
        self.subject.check_invariants()
        assert {queued.pod.name for queued in self.subject} == set(self.known)
        assert len(self.subject) == len(self.known)
        assert all(self.subject.get(queued.key) is queued for queued in self.known.values())


TestRejected = RejectedMachine.TestCase
TestRejected.settings = examples(300, stateful_step_count=40)
