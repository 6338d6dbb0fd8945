"""Which events a profile's plugins are asked about."""

import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.event_rules import event_rules
from podium.queue.rules import ProfileRules
from podium.release import V1_36
from tests.support.queue import NODE_ADD, NODE_LABEL, NODE_TAINT, POD_DELETE, Rejecting, waiting_for
from tests.support.toys import (
    Bind,
    Filter,
    Permit,
    PreEnqueue,
    PreFilter,
    Reserve,
    Score,
    Toy,
    profile,
)

OLD = event_rules(V1_36)
ALL_KINDS = {
    "Pod",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/StorageClass",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/DeviceClass",
}


class Sort(Toy, fwk.QueueSortPlugin):
    def less(self, first, second):
        return first.timestamp < second.timestamp


def rules(*plugins, **rest):
    return ProfileRules.of(profile(Sort("S"), *plugins), **rest)


@pytest.mark.parametrize("kind", [PreEnqueue, PreFilter, Filter, Reserve, Permit])
def test_who_does_not_say_is_asked_about_everything(kind):
    subject = rules(kind("X"))

    assert {event.resource for event in subject.events()} == ALL_KINDS
    (hint,) = subject.listeners(NODE_ADD)["X"]
    assert hint(None, None, None) is True


@pytest.mark.parametrize("kind", [Score, Bind])
def test_who_cannot_reject_is_not_asked(kind):
    assert rules(kind("X")).registrations == {}


def test_an_empty_list_means_never():
    subject = rules(waiting_for(Rejecting("X")))

    assert list(subject.events()) == []
    assert subject.listeners(NODE_ADD) == {}


@pytest.mark.parametrize(
    ("registered", "event", "hints"),
    [
        pytest.param("add", NODE_ADD, 1, id="registered"),
        pytest.param("label", NODE_ADD, 0, id="not-registered"),
        pytest.param("add", NODE_TAINT, 0, id="new-nodes-only"),
        pytest.param("add|label", NODE_LABEL, 1, id="one-of-several"),
        pytest.param("all", POD_DELETE, 0, id="other-kind"),
    ],
)
def test_listeners(registered, event, hints):
    subject = rules(waiting_for(Rejecting("X"), fwk.on("Node", registered)))

    assert len(subject.listeners(event).get("X", ())) == hints


@pytest.mark.parametrize(
    ("registered", "hints"),
    [
        pytest.param("add", 1, id="taints-of-new-nodes-go-later"),
        pytest.param("label", 0, id="only-for-who-waits-for-nodes"),
        pytest.param("add|taint", 1, id="not-twice"),
    ],
)
def test_listeners_to_taints_in_1_36(registered, hints):
    subject = rules(waiting_for(Rejecting("X"), fwk.on("Node", registered)), events=OLD)

    assert len(subject.listeners(NODE_TAINT).get("X", ())) == hints


def test_the_implicit_hint_of_1_36_is_always_yes():
    never = fwk.on("Node", "add", hint=lambda *_: False)
    subject = rules(waiting_for(Rejecting("X"), never), events=OLD)

    (hint,) = subject.listeners(NODE_TAINT)["X"]
    assert hint(None, None, None) is True


def test_extenders_are_asked_about_everything():
    subject = rules(has_extenders=True)

    assert {event.resource for event in subject.events()} == ALL_KINDS
    assert list(subject.registrations) == ["Extender"]


def test_a_plugin_that_cannot_say_ends_the_start():
    class Broken(Rejecting):
        def events_to_register(self):
            raise RuntimeError("no list")

    with pytest.raises(PluginError, match="events_to_register of plugin X failed: no list"):
        rules(Broken("X"))


def test_a_plugin_at_several_points_is_asked_once():
    class Both(Rejecting, PreFilter):
        """Two points."""

    assert list(rules(Both("X")).registrations) == ["X"]
