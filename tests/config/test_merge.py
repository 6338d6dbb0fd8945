"""The merge of a user's plugin sets with the default ones."""

import pytest

from podium.config import upstream, wire
from podium.config.merge import Entry, PluginSet, merged, merged_plugins
from podium.config.version import V1, default_plugins
from podium.release import RELEASES


def plugin_set(enabled="", disabled=""):
    """``plugin_set("A B=5", "C")``: names with weights, then disabled names."""
    entries = []
    for index, text in enumerate(enabled.split()):
        name, _, weight = text.partition("=")
        entries.append(Entry(name, int(weight or 0), f"enabled[{index}]"))
    return PluginSet(tuple(entries), tuple(disabled.split()))


DEFAULT = PluginSet(tuple(Entry(name, 2, "default") for name in "ABC"))


@pytest.mark.parametrize(
    ("custom", "expected", "disabled"),
    [
        pytest.param(plugin_set(), "A=2 B=2 C=2", "", id="nothing-given"),
        pytest.param(plugin_set("D"), "A=2 B=2 C=2 D=0", "", id="new-ones-are-appended"),
        pytest.param(plugin_set("D B=5"), "A=2 B=5 C=2 D=0", "", id="default-replaced-in-place"),
        pytest.param(plugin_set("B"), "A=2 B=0 C=2", "", id="weight-is-lost-when-not-given"),
        pytest.param(plugin_set("", "B"), "A=2 C=2", "B", id="disabled"),
        pytest.param(plugin_set("B", "B"), "A=2 C=2 B=0", "B", id="enabled-beats-disabled"),
        pytest.param(plugin_set("D", "*"), "D=0", "*", id="all-disabled"),
        pytest.param(plugin_set("", "Z"), "A=2 B=2 C=2", "Z", id="unknown-disabled-in-silence"),
        pytest.param(plugin_set("B=1 B=7"), "A=2 B=7 C=2 B=1", "", id="last-mention-is-used"),
        pytest.param(plugin_set("D D"), "A=2 B=2 C=2 D=0 D=0", "", id="duplicates-stay"),
    ],
)
def test_merged(custom, expected, disabled):
    result = merged(custom, DEFAULT)

    assert " ".join(f"{entry.name}={entry.weight}" for entry in result.enabled) == expected
    assert " ".join(result.disabled) == disabled


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_only_multi_point_has_defaults(release):
    sets = merged_plugins(wire.Plugins(), "plugins", V1, default_plugins(release))

    assert sets["multiPoint"].names == tuple(upstream.default_weights(release))
    assert all(not found.enabled for key, found in sets.items() if key != "multiPoint")
