"""The written form, beside what kube-scheduler of each release writes for the same files."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from podium import app
from podium import framework as fwk
from podium.config.dump import dump, to_yaml
from podium.config.export import effective, loadable
from podium.config.feature_gates import FeatureGates
from podium.config.load import from_value, read, read_default, text_of
from podium.config.model import ClientConnection
from podium.errors import ConfigError
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.legacy.convert import as_v1, convert
from podium.plugins import IN_TREE
from podium.release import RELEASES, V1_36

FILES = Path(__file__).with_name("dumps")
EXAMPLES = sorted(Path(__file__).with_name("examples").rglob("*.yaml"))
REGISTRY = app.in_tree_with_legacy()

every_release = pytest.mark.parametrize("release", RELEASES, ids=str)


class Mine(fwk.FilterPlugin):
    name = "Mine"

    def filter(self, state, pod, node):
        return fwk.SUCCESS


def reading_of(path, registry=REGISTRY):
    return read(text_of(path), registry, source=path.name, versions=VERSIONS)


def written_of(reading, configuration=None, registry=REGISTRY):
    return dump(
        as_v1(reading, registry, "test.yaml"), configuration or reading.configuration, registry
    )


@every_release
def test_default(release):
    registry = app.in_tree_with_legacy(FeatureGates(release))
    ours = to_yaml(written_of(read_default(registry), registry=registry))

    assert ours == (FILES / f"default-{release}.yaml").read_text()


@every_release
def test_file(release):
    """Merged plugins, arguments, extenders and what is left out, to the letter."""
    registry = app.in_tree_with_legacy(FeatureGates(release))
    ours = to_yaml(written_of(reading_of(FILES / "given.yaml", registry), registry=registry))

    assert ours == (FILES / f"written-{release}.yaml").read_text()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_is_written_means_what_was_read(path):
    reading = reading_of(path)
    v1 = in_v1(reading)
    if v1 is None:
        with pytest.raises(ConfigError):
            written_of(reading)
        return
    value = written_of(reading)

    again = from_value(yaml.safe_load(to_yaml(value)), REGISTRY)
    assert bare(again) == bare(v1)
    assert written_of(read(to_yaml(value), REGISTRY)) == value


def in_v1(reading):
    """What v1 makes of it; ``None`` for the few files that it has no words for."""
    try:
        return from_value(convert(reading, REGISTRY).value, REGISTRY)
    except ConfigError:
        return None


def bare(configuration):
    """Without warnings, which tell the lines of a file."""
    return dataclasses.replace(configuration, warnings=())


def test_most_examples_can_be_written():
    assert sum(in_v1(reading_of(path)) is None for path in EXAMPLES) * 4 < len(EXAMPLES)


def test_flags_change_what_is_written():
    reading = read_default(REGISTRY)
    client = ClientConnection(kubeconfig="other.conf", qps=2.5)
    changed = dataclasses.replace(reading.configuration, client_connection=client)

    found = written_of(reading, changed)["clientConnection"]

    assert (found["kubeconfig"], found["qps"]) == ("other.conf", 2.5)


def test_plugins_of_the_command_line_are_in_it():
    registry = Registry(IN_TREE)
    registry.register(Mine, enable=True)
    [profile] = written_of(read_default(registry), registry=registry)["profiles"]

    last = profile["plugins"]["multiPoint"]["enabled"][-1]
    assert last == {"name": "Mine", "weight": 1}


def test_a_plugin_behind_a_gate_is_no_default_without_it():
    gates = FeatureGates(V1_36, {"NodeDeclaredFeatures": False})
    [profile] = written_of(read_default(REGISTRY, gates=gates))["profiles"]

    names = [entry["name"] for entry in profile["plugins"]["multiPoint"]["enabled"]]
    assert "NodeDeclaredFeatures" not in names
    assert len(names) == 19


@pytest.mark.parametrize("path", [each for each in EXAMPLES if each.parent.name == "v1"])
def test_the_effective_form_can_be_loaded(path):
    """A snapshot takes it from a running scheduler."""
    configuration = reading_of(path).configuration
    shown = effective(configuration)
    again = from_value(loadable(shown), REGISTRY)
    assert in_effect(effective(again)) == in_effect(shown)


def in_effect(shown):
    """Leave out where plugins come from, and the arguments of plugins that do not run."""
    for profile in shown["profiles"]:
        plugins = [each for found in profile["plugins"].values() for each in found]
        for plugin in plugins:
            del plugin["from"]
        names = {plugin["name"] for plugin in plugins}
        profile["args"] = {name: profile["args"][name] for name in profile["args"] if name in names}
    return shown
