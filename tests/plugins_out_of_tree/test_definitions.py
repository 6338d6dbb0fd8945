"""What can only fail in the middle of a cycle is refused when a plugin is registered."""

import pytest

from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.registry import Registry
from podium.testing import FakeHandle


class Nothing:
    """Of no base class."""


class Pointless(fwk.Plugin):
    name = "Pointless"


class Lacking(fwk.FilterPlugin, fwk.ReservePlugin):
    name = "Lacking"


class Releasing(fwk.PreFilterPlugin, fwk.PreFilterExtensions, fwk.ReservePlugin):
    """Has one method of Reserve, and names the general interface before the special one."""

    name = "Releasing"
    State = fwk.PodsToActivate

    def unreserve(self, state, pod, node_name):
        return None

    def pre_filter(self, state, pod, nodes):
        return None

    def add_pod(self, state, pod, other, node):
        return None

    def remove_pod(self, state, pod, other, node):
        return None


class Narrow(fwk.FilterPlugin):
    name = "Narrow"

    def filter(self, pod, node):
        return None


class Asynchronous(fwk.ScorePlugin):
    name = "Asynchronous"

    async def score(self, state, pod, node):
        return 1


class Old(fwk.ScorePlugin):
    name = "Old"

    def score(self, state, pod, node):
        return 1

    def normalize_score(self, state, pod, scores):
        return scores


class Closed(fwk.ScorePlugin):
    name = "Closed"

    def __init__(self):
        """Takes nothing."""

    def score(self, state, pod, node):
        return 1


class Odd(fwk.ScorePlugin):
    """Has the attributes that a test gives it."""

    name = "Odd"

    def score(self, state, pod, node):
        return 1


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        pytest.param({"name": 3}, "name must be a text, not 3", id="name"),
        pytest.param({"name": " Odd"}, "name must be one line of text without", id="name-blank"),
        pytest.param({"weight": "2"}, "weight must be a whole number from 1 to", id="weight-text"),
        pytest.param({"weight": 0}, "weight must be a whole number from 1 to", id="weight-zero"),
        pytest.param({"watches": None}, "watches must be a tuple of kinds", id="watches-none"),
        pytest.param(
            {"watches": fwk.StorageClass},
            "watches must be a tuple of kinds such as (StorageClass,), not <class",
            id="watches-a-class",
        ),
        pytest.param({"watches": ([],)}, "watches: expected one of the classes", id="watches-list"),
        pytest.param(
            {"depends_on": fwk.Dependencies()},
            "depends_on must be a method that takes (self, pod: 'Pod')",
            id="depends-on",
        ),
        pytest.param({"score": 3}, "score must be a method that takes (self, state", id="method"),
        pytest.param(
            {"sign": "metadata.labels"},
            "sign must be a method or None, not 'metadata.labels'; for fields write sign = fwk.",
            id="sign",
        ),
    ],
)
def test_attributes_are_checked(attributes, expected):
    with pytest.raises(PluginError) as refused:
        Registry().register(type("Odd", (Odd,), {"__module__": __name__, **attributes}))

    assert str(refused.value).startswith(f"{__file__}, class Odd: ")
    assert expected in str(refused.value)


def unannotated(args, handle):
    return None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(Nothing, ".Nothing is not a plugin: write a class that inherits", id="class"),
        pytest.param(unannotated, ".unannotated is not a plugin: write a class", id="function"),
        pytest.param(3, "3 is not a plugin", id="value"),
        pytest.param(Pointless, "class Pointless: has no extension point", id="no-point"),
        pytest.param(
            Lacking,
            "class Lacking: lacks the method filter(self, state: 'CycleState'",
            id="abstract",
        ),
        pytest.param(
            Lacking, "lacks the method reserve(self, state: 'CycleState'", id="two-at-once"
        ),
        pytest.param(
            Narrow, "class Narrow: filter(self, pod, node) must take (self, state:", id="parameters"
        ),
        pytest.param(Asynchronous, "score cannot be async: all pods would wait for it", id="async"),
        pytest.param(
            Old, "normalize_score(self, state, pod, scores) must take (self, state", id="optional"
        ),
        pytest.param(Closed, "its constructor must take (self, args, handle)", id="constructor"),
    ],
)
def test_refused(written, expected):
    with pytest.raises(PluginError) as refused:
        Registry().register(written, enable=True)

    assert expected in str(refused.value)


def test_a_file_is_named():
    with pytest.raises(PluginError) as refused:
        Registry().register(Pointless, enable=True)

    assert str(refused.value).startswith(f"{__file__}, class Pointless: ")


def test_interfaces_come_in_any_order_and_reserve_needs_one_method():
    class Reversed(fwk.PreFilterExtensions, fwk.PreFilterPlugin, Releasing):
        name = "Reversed"

    registry = Registry([Releasing, Reversed])

    for plugin in (Releasing, Reversed):
        assert registry.points(plugin.name) == {fwk.Point.PRE_FILTER, fwk.Point.RESERVE}
        built = registry.build(plugin.name, fwk.NoArgs(), FakeHandle())
        assert built.reserve(None, None, "a") is None
