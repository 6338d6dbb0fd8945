"""Pods in flight see what happened since they were taken; nothing is kept longer than needed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from podium.queue.in_flight import POPPED, ClusterChange, InFlight
from tests.support.queue import NODE_ADD

pods = st.sampled_from("abc")
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["start", "done"]), pods),
        st.tuples(st.just("event"), st.just("")),
    ),
    max_size=40,
)


def change(number):
    return ClusterChange(NODE_ADD, f"event{number}")


@given(steps=steps)
def test_like_a_list_with_a_marker_per_pod(steps):
    subject, entries = InFlight(), []
    for number, (step, uid) in enumerate(steps):
        if step == "start" and uid not in entries:
            subject.start(uid)
            entries.append(uid)
        elif step == "done":
            subject.done(uid)
            entries = [entry for entry in entries if entry != uid]
            while entries and isinstance(entries[0], ClusterChange):
                del entries[0]
        elif step == "event":
            subject.record(change(number))
            entries += [change(number)] if entries else []

        subject.check_invariants()
        for uid in "abc":
            assert (uid in subject) == (uid in entries)
            assert subject.since(uid) == (after(entries, uid) if uid in entries else None)
        assert subject.counts() == Counter(
            POPPED if isinstance(entry, str) else entry.label for entry in entries
        )


def after(entries, uid):
    rest = entries[entries.index(uid) + 1 :]
    return [entry for entry in rest if isinstance(entry, ClusterChange)]


def test_done_twice_changes_nothing():
    subject = InFlight()
    subject.start("a")
    subject.start("b")
    subject.record(change(1))
    subject.done("a")
    subject.done("a")

    assert subject.since("b") == [change(1)]
    assert len(subject) == 1
