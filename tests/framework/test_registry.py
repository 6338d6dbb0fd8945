import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.args import NoArgs
from podium.framework.points import Point
from podium.framework.registry import Registry
from podium.testing.handle import FakeHandle
from tests.support.toys import Filter


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

    with pytest.raises(PluginError) as refused:
        registry.register(Named)

    here = f"{__file__}, class Named"
    assert str(refused.value) == (
        f"{here}: a plugin named Named already exists ({here}): choose another name"
    )


def test_a_plugin_needs_a_name():
    class Nameless(Named):
        name = ""

    with pytest.raises(PluginError, match=r"test_registry\.py, class \S*Nameless has no name: "):
        Registry([Nameless])


def test_build_hands_over_arguments_and_handle():
    handle, args = FakeHandle(), Named.Args(limit=5)

    plugin = Registry([Named]).build("Named", args, handle)

    assert isinstance(plugin, Named)
    assert plugin.args == args
    assert plugin.handle.client is handle.client  # through a handle of its own


class More(Named):
    """What a factory may return for ``Named``."""


def make(args, handle) -> Named:
    return More(args, handle)


def broken(args, handle) -> Named:
    raise OSError("no such device")


def nothing(args, handle) -> Named:
    return None


def less(args, handle) -> Named:
    return Filter("less")


def test_a_factory_builds_what_it_is_annotated_with():
    registry = Registry([make])

    assert registry.points("Named") == {Point.FILTER, Point.SCORE}
    assert registry.args_type("Named") is Named.Args
    assert type(registry.build("Named", Named.Args(), FakeHandle())) is More


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        pytest.param(broken, "no such device", id="raises"),
        pytest.param(nothing, "its factory returned None, not a plugin", id="forgets-to-return"),
        pytest.param(less, "its factory returned a Filter without score", id="does-less"),
    ],
)
def test_what_a_factory_gets_wrong_names_the_plugin(factory, expected):
    registry = Registry()
    registry.register(factory, name="Other")

    with pytest.raises(PluginError) as refused:
        registry.build("Other", Named.Args(), FakeHandle())

    assert str(refused.value) == f'initializing plugin "Other": {expected}'
    assert refused.value.__cause__ is not None


def test_a_plugin_goes_by_the_name_it_is_registered_under():
    registry = Registry([Named])
    registry.register(Named, name="Again")

    names = {name: registry.build(name, Named.Args(), FakeHandle()).name for name in registry}

    assert names == {"Named": "Named", "Again": "Again"}
    assert Named.name == "Named"


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

    with pytest.raises(PluginError, match=r"class Bad: State must be a type with a clone\(\)"):
        Registry([follower])


def test_cloneable_state_is_accepted():
    follower = type("Good", (Follower,), {"name": "Good", "State": WithClone})

    assert "Good" in Registry([follower])
