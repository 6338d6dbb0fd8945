"""A plugin reads the kinds that it declares, and gets an error for any other."""

import pytest

from podium import framework as fwk
from podium.api.objects import PersistentVolumeClaim, Service, StorageClass
from podium.errors import PluginError, UndeclaredKind
from podium.framework.answers import AttemptFailed
from podium.framework.registry import Registry
from podium.testing import FakeHandle, run_filter
from podium.testing.builders import node, pod
from tests.support.storage import claim


class Reader(fwk.FilterPlugin):
    """Refuses every node while there is a service."""

    name = "Reader"

    def __init__(self, args, handle):
        self.cluster = handle.cluster

    def filter(self, state, pod, node):
        is_there = len(self.cluster.objects(Service))
        return fwk.Status.unschedulable("a service") if is_there else fwk.SUCCESS


class Declaring(Reader):
    watches = (Service,)


class Registering(Reader, fwk.EnqueueExtensions):
    def events_to_register(self):
        return [fwk.on("Service", "add")]


MESSAGE = (
    "plugin Reader reads Service objects without declaring it, so perhaps nothing watches them: "
    "write watches = (Service,) into its class, or give watches=(Service,) to the decorator of its "
    "function"
)


def fault_of(plugin):
    """What ends an attempt with this plugin."""
    with pytest.raises(AttemptFailed) as failed:
        run_filter(plugin, pod(), [node("a")])
    return failed.value.__cause__


@pytest.mark.parametrize("plugin", [Declaring, Registering])
def test_a_declared_kind_can_be_read(plugin):
    assert run_filter(plugin, pod(), [node("a")]) == {"a": fwk.SUCCESS}


def test_an_undeclared_kind_names_plugin_kind_and_fix():
    fault = fault_of(Reader)
    assert isinstance(fault, UndeclaredKind)
    assert str(fault) == MESSAGE


class Early(Reader):
    def __init__(self, args, handle):
        self.services = handle.cluster.objects(Service)


def test_what_a_constructor_reads_is_checked_when_the_plugin_is_built():
    with pytest.raises(PluginError, match="reads Service objects without declaring it"):
        Registry([Early]).build("Reader", fwk.NoArgs(), FakeHandle())


class EarlyAndRegistering(Early, fwk.EnqueueExtensions):
    def filter(self, state, pod, node):
        return fwk.SUCCESS

    def events_to_register(self):
        return [fwk.on("Service", "add")]


def test_a_constructor_may_read_what_the_plugin_registers_later():
    assert run_filter(EarlyAndRegistering, pod(), [node("a")]) == {"a": fwk.SUCCESS}


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda cluster: cluster.assumed(PersistentVolumeClaim), "PersistentVolumeClaim"),
        (lambda cluster: cluster.volumes, "PersistentVolume"),
        (lambda cluster: cluster.namespace_labels("default"), "Namespace"),
        (lambda cluster: cluster.storage.claims, "PersistentVolumeClaim"),
        (lambda cluster: cluster.storage.attached, "PersistentVolumeClaim"),
        (lambda cluster: cluster.storage.limits("disk.example.com"), "CSINode"),
        (lambda cluster: cluster.storage.volumes_of(pod(), ()), "PersistentVolumeClaim"),
    ],
)
def test_every_way_to_read_is_checked(read, kind):
    class Reading(Reader, fwk.EnqueueExtensions):
        watches = (StorageClass,)

        def filter(self, state, pod, node):
            read(self.cluster)
            return fwk.SUCCESS

        def events_to_register(self):
            return []

    assert f"plugin Reader reads {kind} objects" in str(fault_of(Reading))


def test_a_plugin_without_registrations_may_read_what_wakes_it():
    """It is tried again after any event, so these kinds are watched."""

    class Forgetful(Reader):
        def filter(self, state, pod, node):
            known = self.cluster.objects(PersistentVolumeClaim).get("default/data")
            return fwk.SUCCESS if known is not None else fwk.Status.unschedulable("no claim")

    assert run_filter(Forgetful, pod(), [node("a"), claim("data")]) == {"a": fwk.SUCCESS}


@pytest.mark.parametrize("wrong", ["services", object])
def test_watches_must_name_kinds(wrong):
    class Wrong(Reader):
        watches = (wrong,)

    with pytest.raises(PluginError, match="watches: expected one of the classes CSIDriver, "):
        Registry([Wrong])
