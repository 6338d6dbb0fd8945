import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.args import NoArgs
from podium.framework.plugin import Point
from podium.framework.registry import Registry
from tests.fakes import FakeHandle
from tests.toys import Filter


class Named(fwk.FilterPlugin, fwk.ScorePlugin):
    name = "Named"

    class Args(fwk.Args):
        limit: int = 3

    def __init__(self, args, handle):
        self.args, self.handle = args, handle

    def filter(self, state, pod, node):
        return None

    def score(self, state, pod, node):
        return 0


class Follower(fwk.PreFilterExtensions):
    """Follows dry runs."""

    name = "Follower"

    def pre_filter(self, state, pod, nodes):
        return None

    def add_pod(self, state, pod, other, node):
        return None

    def remove_pod(self, state, pod, other, node):
        return None


class WithClone:
    def clone(self):
        return WithClone()


def test_a_plugin_is_known_by_its_name():
    registry = Registry([Named])

    assert "Named" in registry
    assert list(registry) == ["Named"]
    assert registry.points("Named") == {Point.FILTER, Point.SCORE}
    assert registry.args_type("Named") is Named.Args


def test_a_plugin_without_arguments_takes_none():
    registry = Registry()
    registry.register(Filter, name="Plain")

    assert registry.args_type("Plain") is NoArgs


def test_a_plugin_may_be_registered_under_another_name():
    registry = Registry([Named])
    registry.register(Named, name="Again")

    assert list(registry) == ["Named", "Again"]


def test_a_name_is_taken_once():
    registry = Registry([Named])

    with pytest.raises(PluginError, match=r"^a plugin named Named already exists$"):
        registry.register(Named)


def test_a_plugin_needs_a_name():
    class Nameless(Named):
        name = ""

    with pytest.raises(PluginError, match=r"test_registry\.\S*Nameless has no name$"):
        Registry([Nameless])


def test_build_hands_over_arguments_and_handle():
    handle, args = FakeHandle(), Named.Args(limit=5)

    plugin = Registry([Named]).build("Named", args, handle)

    assert isinstance(plugin, Named)
    assert (plugin.args, plugin.handle) == (args, handle)


def test_a_factory_replaces_the_constructor():
    registry = Registry()
    registry.register(Named, build=lambda args, handle: Filter("made"))

    assert registry.build("Named", Named.Args(), FakeHandle()).name == "made"


def test_what_a_factory_raises_names_the_plugin():
    def broken(args, handle):
        raise OSError("no such device")

    registry = Registry()
    registry.register(Named, name="Other", build=broken)

    with pytest.raises(PluginError, match=r'^initializing plugin "Other": no such device$') as e:
        registry.build("Other", Named.Args(), FakeHandle())
    assert isinstance(e.value.__cause__, OSError)


@pytest.mark.parametrize(
    "state",
    [
        pytest.param({}, id="no-type"),
        pytest.param({"State": int}, id="type-without-clone"),
        pytest.param({"State": WithClone()}, id="not-a-type"),
    ],
)
def test_what_follows_dry_runs_must_be_cloneable(state):
    follower = type("Bad", (Follower,), {"name": "Bad", **state})

    with pytest.raises(PluginError, match=r"^Bad.State must be a type with a clone\(\) method$"):
        Registry([follower])


def test_cloneable_state_is_accepted():
    follower = type("Good", (Follower,), {"name": "Good", "State": WithClone})

    assert "Good" in Registry([follower])
