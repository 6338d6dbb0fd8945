"""The store against a slow model: the same steps, the same answers, at every version."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from podium.apiserver.statuses import Refusal
from podium.apiserver.store import Deletion, ObjectStore
from podium.clock import FakeClock
from tests.support.search import examples

NAMES = st.sampled_from(["a", "b", "c"])
NAMESPACES = st.sampled_from(["m", "n"])
FINALIZERS = st.sampled_from([[], ["x/hold"]])
GRACES = st.sampled_from([0, 5])


class StoreAgainstModel(RuleBasedStateMachine):
    """The model keeps a copy of everything at every version, and every event ever."""

    def __init__(self):
        super().__init__()
        self.store = ObjectStore(FakeClock(), history=6, seed=0)
        self.now = {}  # key to (value, finalizers, grace or None)
        self.past = {1: {}}
        self.events = []
        self.watch = self.store.watch("things", self.store.version, lambda: None)
        self.seen = 0

    def changed(self, kind, key):
        self.past[self.store.version] = dict(self.now)
        self.events.append((self.store.version, kind, key))

    @rule(namespace=NAMESPACES, name=NAMES, value=st.integers(0, 2), held=FINALIZERS)
    def create(self, namespace, name, value, held):
        key = (namespace, name)
        meta = {"name": name, "namespace": namespace, "finalizers": held}
        refused = reason(self.store.create, "things", {"metadata": meta, "value": value})
        assert refused == ("AlreadyExists" if key in self.now else "")
        if refused:
            return
        self.now[key] = (value, tuple(held), None)
        self.changed("ADDED", key)

    @rule(
        namespace=NAMESPACES,
        name=NAMES,
        value=st.integers(0, 2),
        held=FINALIZERS,
        version=st.sampled_from(["", "current", "stale"]),
    )
    def update(self, namespace, name, value, held, version):
        key = (namespace, name)
        meta = {"name": name, "namespace": namespace, "finalizers": held}
        if version == "stale":
            meta["resourceVersion"] = "1"
        elif version == "current" and key in self.now:
            meta["resourceVersion"] = str(self.store.item("things", key).version)
        before = self.store.version
        refused = reason(self.store.update, "things", {"metadata": meta, "value": value})
        expected = "Conflict" if version == "stale" else ""
        assert refused == (expected if key in self.now else "NotFound")
        if refused:
            return
        grace = self.now[key][2]
        if self.now[key] == (value, tuple(held), grace) and not self.is_finished(held, grace):
            assert self.store.version == before
            return
        self.settle(key, (value, tuple(held), grace))

    @rule(namespace=NAMESPACES, name=NAMES, grace=GRACES)
    def delete(self, namespace, name, grace):
        key = (namespace, name)
        refused = reason(self.store.delete, "things", key, Deletion(grace_seconds=grace))
        assert refused == ("" if key in self.now else "NotFound")
        if refused:
            return
        value, held, before = self.now[key]
        after = grace if before is None else min(before, grace)
        if after == before and not self.is_finished(held, after):
            return
        self.settle(key, (value, held, after))

    def is_finished(self, held, grace):
        return grace == 0 and not held

    def settle(self, key, state):
        if self.is_finished(state[1], state[2]):
            del self.now[key]
            self.changed("DELETED", key)
        else:
            self.now[key] = state
            self.changed("MODIFIED", key)

    @rule()
    def follow(self):
        try:
            events = self.watch.poll()
        except Refusal:
            assert len(self.events) - self.seen > 6
            self.watch.close()
            self.watch = self.store.watch("things", self.store.version, lambda: None)
        else:
            told = [(event.version, event.type, event.key) for event in events]
            assert told == self.events[self.seen :]
        self.seen = len(self.events)

    @rule(back=st.integers(0, 5))
    def look_back(self, back):
        versions = sorted(self.past)
        at = versions[max(0, len(versions) - 1 - back)]
        listed = self.store.list("things", at=at).items
        assert {item.key: item.decode()["value"] for item in listed} == {
            key: value for key, (value, _, _) in self.past[at].items()
        }

    @invariant()
    def agrees(self):
        self.store.check_invariants()
        listed = self.store.list("things").items
        assert [item.key for item in listed] == sorted(self.now)
        for item in listed:
            obj = item.decode()
            value, held, grace = self.now[item.key]
            assert obj["value"] == value
            assert tuple(obj["metadata"]["finalizers"]) == held
            assert obj["metadata"].get("deletionGracePeriodSeconds") == grace


def reason(call, *args):
    """Why a call was refused; empty when it was not."""
    try:
        call(*args)
    except Refusal as error:
        return error.reason
    return ""


TestStoreAgainstModel = StoreAgainstModel.TestCase
TestStoreAgainstModel.settings = examples(60, stateful_step_count=40)
