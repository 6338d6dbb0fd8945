"""Old names of the plugin API keep working for one release, and say what to write instead."""

from pathlib import Path

import pytest

from podium import framework as fwk
from podium.framework import deprecated
from podium.testing.builders import node, pod


@pytest.mark.parametrize(("old", "new"), [("Reads", "Dependencies"), ("reads", "Dependencies")])
def test_an_old_name_is_the_new_thing_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=rf"^fwk\.{old} is deprecated: use fwk\.{new} "):
        found = getattr(fwk, old)

    assert found is getattr(fwk, new)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'podium.framework' has no attribute 'Writes'"):
        fwk.Writes  # noqa: B018


def test_a_method_under_its_old_name_is_called_under_the_new_one():
    with pytest.warns(DeprecationWarning, match=r"Old\.reads is deprecated: use depends_on"):

        class Old(fwk.Plugin):
            name = "Old"

            def reads(self, pod):
                return fwk.Dependencies(node=fwk.Aspect.LABELS)

    assert Old(None, None).depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.LABELS)


def test_every_old_name_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs/plugins/migrating.md").read_text()
    called = [f".{old}(" for methods in deprecated.CALLED.values() for old in methods]
    written = [f"`def {old}(" for old in deprecated.WRITTEN]

    kinds = [f'`fwk.on("{old}"' for old in deprecated.OLD_KINDS]

    assert [old for old in (*called, *written, *kinds) if old not in page] == []
    assert [old for old in deprecated.NAMES if f"`fwk.{old}" not in page] == []


def test_an_old_kind_of_events_still_comes():
    with pytest.warns(
        DeprecationWarning,
        match=r'^fwk\.on\("UnschedulablePod", …\) is deprecated: use "TargetPod"',
    ):
        registered = fwk.on("UnschedulablePod", "label").event

    assert registered == fwk.ClusterEvent.named("UnschedulablePod", "UpdatePodLabel")
    assert registered.covers(fwk.ClusterEvent.named("TargetPod", "UpdatePodLabel"))


def test_an_old_method_does_what_the_new_one_does():
    nodes = fwk.Rows.of(node("a", labels="zone=east"))

    with pytest.warns(
        DeprecationWarning, match=r"^Rows\.label\(\) is deprecated: use nodes\.labels"
    ):
        assert nodes.label("zone").tolist() == ["east"]
    with pytest.warns(DeprecationWarning, match=r"ClusterView\.rows\(\) .+ use cluster\.nodes\(\)"):
        assert nodes.cluster.rows().names == ["a"]


def test_an_old_name_is_logged_once(caplog, monkeypatch):
    monkeypatch.setattr(deprecated, "_logged", set())
    for _ in range(2):
        with pytest.warns(DeprecationWarning, match=r"fwk\.Dependencies"):
            _ = fwk.Reads

    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("deprecated name in a plugin old='fwk.Reads' use='fwk.Dependencies'")
