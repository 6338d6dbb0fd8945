"""The store against a model of it: whatever it is fed, handlers hear a story that holds together,
and it decodes only what is new."""

import json

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from podium.client.known_objects import KnownObjects, Meta
from podium.client.resources import Resource
from podium.errors import InvalidObject, Problem

NAMES = st.sampled_from("abc")
UIDS = st.sampled_from(["u1", "u2"])
VERSIONS = st.integers(1, 4).map(str)
UNREADABLE = "4"


def raw(name, uid, version):
    meta = {"name": name, "namespace": "x", "uid": uid, "resourceVersion": version}
    return json.dumps({"metadata": meta}).encode()


class StoreMachine(RuleBasedStateMachine):
    """Objects are their (uid, version); the model is a dict of them. Version 4 cannot be read."""

    def __init__(self):
        super().__init__()
        self.decoded = []
        self.told = {}
        self.model = {}
        self.left_out = {}  # uids of what could not be read, by name
        self.store = KnownObjects(Resource("Thing", "things", self.decode))
        self.store.subscribe(self.hear)

    def decode(self, data, known):
        meta = json.loads(data)["metadata"]
        obj = (meta["name"], meta["uid"], meta["resourceVersion"])
        self.decoded.append((obj, known))
        if meta["resourceVersion"] == UNREADABLE:
            raise InvalidObject("Thing", meta["name"], [Problem("", "cannot be read")])
        return obj

    def hear(self, old, new):
        name = (old or new)[0]
        assert self.told.get(name) == old
        assert old is None or new is None or (old[1] == new[1] and old[2] != new[2])
        if new is None:
            del self.told[name]
        else:
            self.told[name] = new

    @rule(name=NAMES, uid=UIDS, version=VERSIONS)
    def put(self, name, uid, version):
        obj, before = (name, uid, version), self.model.get(name)
        self.decoded.clear()
        self.store.put(Meta(name, "x", uid, version), raw(name, uid, version))
        same = before if before and before[1] == uid else None
        if version == UNREADABLE:
            was_told = self.left_out.get(name) == uid
            assert self.decoded == ([] if was_told else [(obj, same)])
            self.left_out[name] = uid
            if same is None:
                self.model.pop(name, None)
            return
        assert self.decoded == ([] if before == obj else [(obj, same)])
        self.model[name] = obj
        if before != obj:
            self.left_out.pop(name, None)

    @rule(name=NAMES, uid=UIDS)
    def drop(self, name, uid):
        self.store.drop(Meta(name, "x", uid, "9"))
        if self.left_out.get(name) == uid:
            del self.left_out[name]
        if name in self.model and self.model[name][1] == uid:
            del self.model[name]

    @rule(objects=st.dictionaries(NAMES, st.tuples(UIDS, VERSIONS)), breaks_off=st.booleans())
    def list_again(self, objects, breaks_off):
        self.store.begin_list()
        for name, (uid, version) in objects.items():
            self.put(name, uid, version)
        if breaks_off:  # what it did not show stays
            return
        for _ in self.store.end_list():
            pass
        self.model = {name: obj for name, obj in self.model.items() if name in objects}
        self.left_out = {name: uid for name, uid in self.left_out.items() if name in objects}

    @rule(name=NAMES, uid=UIDS)
    def ask(self, name, uid):
        known = self.model.get(name)
        assert self.store.get(f"x/{name}") == known
        seen = (known and known[1], self.left_out.get(name))
        assert self.store.holds(Meta(name, "x", uid)) == (uid in seen)

    @invariant()
    def is_what_was_told(self):
        assert self.told == self.model
        assert sorted(self.store) == sorted(self.model.values())
        assert len(self.store) == len(self.model)


TestStore = StoreMachine.TestCase


def test_objects_may_come_and_go_while_they_are_read():
    """Endpoints read them in another thread."""
    store = KnownObjects(Resource("Thing", "things", lambda data, known: data))
    for name in "abc":
        store.put(Meta(name, "x", name, "1"), raw(name, name, "1"))

    reading = iter(store)
    next(reading)
    store.put(Meta("d", "x", "d", "2"), raw("d", "d", "2"))
    next(reading)
    store.drop(Meta("c", "x", "c", "3"))
    store.drop(Meta("d", "x", "d", "3"))

    assert len(list(reading)) == 1
    assert len(list(store)) == 2
