"""What ``--plugin`` names is loaded, registered and enabled; nothing else is."""

import sys

import pytest

from podium import config
from podium import framework as fwk
from podium.app import plugin_loading
from podium.errors import ConfigError, PluginError
from podium.framework.points import Point
from podium.testing.handle import FakeHandle

CLASSES = """
from __future__ import annotations
from podium import framework as fwk
from podium.plugins.node_name import NodeName  # not of this file

class _Private(fwk.ScorePlugin):
    name = "Private"

class Base(fwk.ScorePlugin):
    def score(self, state, pod, node):
        return 1

class Rack(Base):
    name = "Rack"
    weight = 2

    class Args(fwk.Args):
        rack_label: str = "rack"

class Built(Base):
    name = "Built"

def make(args, handle) -> Built:
    built = Built(args, handle)
    built.by_factory = True
    return built
"""
FUNCTIONS = """
import podium

@podium.filter
def no_fridays(pod, node):
    return True

@podium.score(weight=5)
def cheapest(node):
    return 1

def helper():
    return 2
"""


def in_file(registry):
    return [name for name in registry if registry.entry(name).origin.startswith("--plugin")]


def test_classes_of_a_file(write):
    registry = plugin_loading.registry([write(CLASSES)])

    assert in_file(registry) == ["Rack", "Built"]
    entry = registry.entry("Rack")
    assert (entry.origin, entry.source) == ("--plugin rack.py", "rack.py, class Rack")
    assert (entry.is_enabled, entry.weight) == (True, 2)
    assert registry.build("Built", fwk.NoArgs(), FakeHandle()).by_factory


def test_functions_of_a_file(write):
    registry = plugin_loading.registry([write(FUNCTIONS)])

    assert in_file(registry) == ["no_fridays", "cheapest"]
    assert registry.points("no_fridays") == {Point.FILTER}


@pytest.mark.parametrize(
    ("name", "expected"), [("Rack", ["Rack"]), ("make", ["Built"]), ("Built", ["Built"])]
)
def test_one_name_of_a_file(write, name, expected):
    assert in_file(plugin_loading.registry([f"{write(CLASSES)}:{name}"])) == expected


def test_a_module_of_a_package(write, tmp_path):
    (tmp_path / "a_package").mkdir()
    write("", "a_package/__init__.py")
    write(CLASSES, "a_package/racks.py")

    assert in_file(plugin_loading.registry(["a_package.racks"])) == ["Rack", "Built"]
    assert in_file(plugin_loading.registry(["a_package.racks:Rack"])) == ["Rack"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("def f(:", "line 1: invalid syntax", id="syntax"),
        pytest.param("x = 1\ny = z", "line 2: NameError: name 'z' is not defined", id="name"),
        pytest.param(
            "import nowhere", "ModuleNotFoundError: No module named 'nowhere'", id="import"
        ),
        pytest.param("raise SystemExit(3)", "line 1: SystemExit: 3", id="exit"),
        pytest.param("x = 1", "it has no plugin: write a class", id="nothing-in-it"),
        pytest.param(
            "import podium\n@podium.filter\ndef f(x): ...",
            "line 2: PluginError: plugin f: f(x) has the unknown parameter x; it may have: pod, ",
            id="parameters",
        ),
        pytest.param(
            "import podium\n@podium.score(weight='2')\ndef f(node): ...",
            "line 2: PluginError: plugin f: f(node): weight must be a whole number from 1 to ",
            id="weight",
        ),
        pytest.param(
            "import podium\n@podium.filter(nam='x')\ndef f(node): ...",
            "line 2: PluginError: @podium.filter has no option nam; it has: name, ",
            id="option",
        ),
        pytest.param(
            "from podium import framework as fwk\nsign = fwk.pod_fields('spec.nodeNam')",
            "line 2: PluginError: fwk.pod_fields: a pod has no field 'spec.nodeNam'; did you mean",
            id="field",
        ),
        pytest.param(
            "from podium import framework as fwk\nevent = fwk.on('Nod', 'add')",
            'line 2: PluginError: "Nod" is not the name of a kind; write it as foos.v1.example.com',
            id="kind",
        ),
    ],
)
def test_a_file_that_does_not_load(write, text, expected):
    before = set(sys.modules)
    with pytest.raises(PluginError) as refused:
        plugin_loading.registry([write(text)])

    assert str(refused.value).startswith("--plugin rack.py: ")
    assert expected in str(refused.value)
    assert set(sys.modules) - before <= {"podium_plugin_rack"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("gone.py", "--plugin gone.py: cannot be read: No such file or directory"),
        ("rack.py:Shelf", "--plugin rack.py:Shelf: Shelf does not exist in it; it has: Rack, make"),
        (
            "nowhere.racks",
            (
                "--plugin nowhere.racks: no module named nowhere; "
                "for a file write its path, such as ./nowhere.py"
            ),
        ),
    ],
)
def test_a_source_that_is_not_there(write, source, expected):
    write(CLASSES)
    with pytest.raises(PluginError) as refused:
        plugin_loading.registry([source])

    assert str(refused.value) == expected


def test_a_taken_name(write):
    text = CLASSES.replace('"Rack"', '"NodeName"')
    with pytest.raises(PluginError) as refused:
        plugin_loading.registry([write(text)])

    assert str(refused.value).startswith(
        "rack.py, class Rack: a plugin named NodeName already exists ("
    )


def test_a_program_hands_over_plugins():
    class Mine(fwk.ScorePlugin):
        name = "Mine"

        def score(self, state, pod, node):
            return 1

    entry = plugin_loading.registry(plugins=[Mine]).entry("Mine")

    assert (entry.origin, entry.is_enabled) == ("this program", True)


# --- entry points --------------------------------------------------------------------------------


@pytest.fixture
def install(write, tmp_path, monkeypatch):
    """Installs a package with these entry points, by name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install_it(**points):
        info = tmp_path / "a_package-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-package\nVersion: 1.0\n")
        lines = (f"{name} = {value}" for name, value in points.items())
        (info / "entry_points.txt").write_text("\n".join(("[podium.plugins]", *lines)))

    return install_it


def test_an_entry_point_is_registered_and_loaded_when_named(write, install):
    write("raise RuntimeError('loaded')", "a_package_one.py")
    write(CLASSES, "a_package_two.py")
    install(Broken="a_package_one:X", Rack="a_package_two:Rack")
    registry = plugin_loading.registry()

    assert {"Broken", "Rack"} <= set(registry)
    assert "a_package_two" not in sys.modules
    entry = registry.entry("Rack")
    assert (entry.origin, entry.is_enabled) == ("a-package (a_package_two:Rack)", False)
    with pytest.raises(PluginError) as refused:
        registry.points("Broken")
    assert str(refused.value) == (
        "a-package (a_package_one:X) cannot be loaded: RuntimeError: loaded"
    )
    assert "Broken" in registry


def test_an_entry_point_runs_where_a_configuration_names_it(write, install):
    write(CLASSES, "a_package_two.py")
    install(Rack="a_package_two:Rack")
    registry = plugin_loading.registry()

    assert "Rack" not in profile(registry).plugins[Point.SCORE]
    named = {"score": {"enabled": [{"name": "Rack"}]}}
    assert "Rack" in profile(registry, plugins=named).plugins[Point.SCORE]


def test_an_entry_point_with_a_taken_name_is_left_out(install, caplog):
    install(NodeName="nowhere:X")
    registry = plugin_loading.registry()

    assert registry.entry("NodeName").origin == "podium"
    assert "plugin NodeName of a-package (nowhere:X) is not used: the name is taken" in caplog.text


# --- configurations ------------------------------------------------------------------------------


def profile(registry, **given):
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "x", **given}],
    }
    (found,) = config.from_value(value, registry).profiles
    return found


@pytest.mark.parametrize(
    ("plugins", "scores", "origin", "weight"),
    [
        pytest.param({}, True, "--plugin", 2, id="appended-with-its-own-weight"),
        pytest.param(
            {"multiPoint": {"enabled": [{"name": "Rack", "weight": 9}]}},
            True,
            "multiPoint",
            9,
            id="named-in-multi-point",
        ),
        pytest.param(
            {"score": {"enabled": [{"name": "Rack", "weight": 4}]}}, True, "score", 4, id="named"
        ),
        pytest.param({"multiPoint": {"disabled": [{"name": "Rack"}]}}, False, "", 0, id="disabled"),
        pytest.param(
            {"score": {"disabled": [{"name": "*"}]}}, False, "", 0, id="none-at-its-point"
        ),
        pytest.param(
            {
                "multiPoint": {"disabled": [{"name": "*"}]},
                "queueSort": {"enabled": [{"name": "PrioritySort"}]},
                "bind": {"enabled": [{"name": "DefaultBinder"}]},
            },
            True,
            "--plugin",
            2,
            id="all-others-disabled",
        ),
    ],
)
def test_the_configuration_beats_the_command_line(write, plugins, scores, origin, weight):
    registry = plugin_loading.registry([f"{write(CLASSES)}:Rack"])
    found = profile(registry, plugins=plugins)

    assert ("Rack" in found.plugins[Point.SCORE]) == scores
    if scores:
        place = found.plugins[Point.SCORE].index("Rack")
        assert place == len(found.plugins[Point.SCORE]) - 1
        assert found.origins[Point.SCORE][-1] == origin
        assert found.weights["Rack"] == weight


def test_args_have_the_names_that_the_author_gave_them(write):
    registry = plugin_loading.registry([write(CLASSES)])
    found = profile(registry, pluginConfig=[{"name": "Rack", "args": {"rack_label": "r"}}])

    assert found.args["Rack"] == registry.args_type("Rack")(rack_label="r")


def test_an_unknown_arg_is_told_with_its_line(write):
    registry = plugin_loading.registry([write(CLASSES)])
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: Rack
    args:
      rackLable: r
"""
    with pytest.raises(ConfigError) as refused:
        config.load(text, registry)

    assert "profiles[0].pluginConfig[0].args.rackLable (line 7): unknown field" in str(
        refused.value
    )


def test_args_may_be_in_camel_case_and_are_told_as_written(write):
    registry = plugin_loading.registry([write(CLASSES)])
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: Rack
    args:
      rackLabel: %s
"""
    profile = config.load(text % "r", registry).profiles[0]
    assert profile.args["Rack"].rack_label == "r"

    with pytest.raises(ConfigError, match=r"args\.rackLabel \(line 7\)"):
        config.load(text % "7", registry)

    with pytest.raises(ConfigError) as refused:
        config.load(text % "r" + "      rack_label: r\n", registry)
    assert refused.value.problems == (
        fwk.Problem(
            "profiles[0].pluginConfig[0].args.rackLabel",
            "given twice: rack_label and rackLabel; remove one of them",
            7,
        ),
    )
