"""Files as users have them, of every version: accepted, and what they come to."""

from pathlib import Path

import pytest
import yaml

from podium import config
from podium.config.load import read
from podium.framework.points import Point
from podium.legacy import VERSIONS
from tests.support.configurations import KNOWN, order

ROOT = Path(__file__).parents[2]
EXAMPLES = Path(__file__).parent / "examples"
EXPECTED = yaml.safe_load((Path(__file__).parent / "expected.yaml").read_text())
FILES = sorted(
    path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()
)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)  # one example names another file


def load(name):
    return config.load_file(EXAMPLES / name, KNOWN, versions=VERSIONS)


@pytest.mark.parametrize("name", FILES)
def test_accepted(name):
    reading = read((EXAMPLES / name).read_text(), KNOWN, source=name, versions=VERSIONS)

    assert reading.version.title.lower() == name.partition("/")[0]


def test_every_example_has_an_expectation():
    assert sorted(EXPECTED) == FILES


@pytest.mark.parametrize("name", FILES)
def test_effective_plugins(name):
    loaded = load(name)
    found = {profile.scheduler_name: order(profile) for profile in loaded.profiles}
    expected = EXPECTED[name].get("profiles", {"default-scheduler": {}})

    assert list(found) == list(expected)
    for profile, points in expected.items():
        for point, plugins in points.items():
            assert found[profile][point] == plugins, (profile, point)


@pytest.mark.parametrize("name", FILES)
def test_what_is_not_expected_is_as_by_default(name):
    """Points that the expectation leaves out are those of an empty file of the version."""
    usual = order(load(f"{name.partition('/')[0]}/defaults.yaml").profiles[0])

    for profile in load(name).profiles:
        expected = EXPECTED[name].get("profiles", {}).get(profile.scheduler_name, {})
        for point, plugins in order(profile).items():
            assert plugins == expected.get(point, usual[point]), point


@pytest.mark.parametrize("name", [name for name in FILES if "args" in EXPECTED[name]])
def test_effective_arguments(name):
    profile = load(name).profiles[-1]

    for plugin, fields in EXPECTED[name]["args"].items():
        for field, value in fields.items():
            found = getattr(profile.args[plugin], field)
            assert list(found) == value if isinstance(value, list) else found == value


@pytest.mark.parametrize("name", FILES)
def test_warnings(name):
    """The version is told of in all but v1; beyond that, what the expectation lists."""
    told = [warning.path for warning in load(name).warnings if warning.path != "apiVersion"]

    assert told == EXPECTED[name].get("warnings", [])


def test_arguments_with_structure():
    [ratio] = load("v1/requested-to-capacity-ratio.yaml").profiles
    strategy = ratio.args["NodeResourcesFit"].scoring_strategy
    spread = load("v1/spread-by-zone.yaml").profiles[0].args["PodTopologySpread"]

    assert strategy.type == "RequestedToCapacityRatio"
    assert [(spec.name, spec.weight) for spec in strategy.resources] == [
        ("intel.com/foo", 3),
        ("intel.com/bar", 3),
    ]
    points = strategy.requested_to_capacity_ratio.shape
    assert [(point.utilization, point.score) for point in points] == [(0, 0), (100, 10)]
    assert [constraint.topology_key for constraint in spread.default_constraints] == [
        "topology.kubernetes.io/zone"
    ]


def test_extenders():
    first, second = load("v1/extenders.yaml").extenders
    [legacy] = load("policy/with-extender.json").extenders

    assert (first.http_timeout, second.http_timeout) == (2.0, 5.0)
    assert (legacy.http_timeout, legacy.bind_verb, legacy.weight) == (0.1, "bind", 5)
    assert (legacy.enable_https, legacy.tls.ca_file) == (True, "/etc/ca.crt")
    assert legacy.managed_resources[0].ignored_by_scheduler


def test_origins():
    profile = load("v1/multi-point.yaml").profiles[0]
    names = profile.order_with_absent[Point.SCORE]
    origins = dict(zip(names, profile.origins[Point.SCORE], strict=True))

    assert origins["InterPodAffinity"] == "score"
    assert origins["TaintToleration"] == "multiPoint"
    assert origins["NodeAffinity"] == "default"
