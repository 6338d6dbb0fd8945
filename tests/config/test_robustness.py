"""Whatever a file contains: a configuration or a ConfigError, and nothing else."""

import contextlib
import copy
import json
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from podium import config
from podium.config import upstream
from podium.errors import ConfigError
from podium.framework.args import NoArgs
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from tests.support.configurations import KNOWN, FitArgs, plugin, registry
from tests.support.search import examples

VALID = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 16,
    "percentageOfNodesToScore": 50,
    "podInitialBackoffSeconds": 1,
    "enableProfiling": True,
    "leaderElection": {"leaderElect": True, "leaseDuration": "15s", "resourceName": "x"},
    "clientConnection": {"qps": 50.5, "burst": 100, "kubeconfig": "/k"},
    "profiles": [
        {
            "schedulerName": "a",
            "plugins": {
                "multiPoint": {"enabled": [{"name": "Mine", "weight": 4}], "disabled": []},
                "filter": {"enabled": [{"name": "NodeName"}], "disabled": [{"name": "NodePorts"}]},
                "queueSort": {"enabled": [{"name": "PrioritySort"}]},
            },
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {"percentage": 3, "resources": [{"name": "cpu", "weight": 2}]},
                },
                {"name": "TaintToleration", "args": {"x": 1}},
            ],
        },
        {"schedulerName": "b", "plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}},
    ],
    "extenders": [
        {
            "urlPrefix": "http://e",
            "prioritizeVerb": "p",
            "weight": 2,
            "httpTimeout": "5s",
            "tlsConfig": {"caData": "aGk=", "insecure": False},
            "managedResources": [{"name": "a.io/x", "ignoredByScheduler": True}],
        }
    ],
}
REGISTRIES = [
    Registry(),
    registry(plugin("Mine", ["filter", "score"])),
    Registry([plugin("NodeResourcesFit", ["score"], FitArgs), plugin("Mine", ["bind"], NoArgs)]),
]

WORDS = "* 15s -1h 1e99s NodeName EBSLimits a cpu kind name args enabled weight plugins x/y/z é😀"
words = st.sampled_from(["", "\x00", *WORDS.split(), *upstream.INTERFACES])
absurd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400, -(10**400)]),
    st.floats(),
    words,
    st.text(st.characters(codec=None)),
)
values = st.recursive(
    absurd,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words | st.text(st.characters(codec=None)), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else []
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        yield from places(item, (*path, key))


PLACES = list(places(VALID))


def changed(value, path, new):
    if not path:
        return new
    target = value
    for key in path[:-1]:
        if not isinstance(target, dict | list):
            return value
        try:
            target = target[key]
        except (KeyError, IndexError, TypeError):
            return value
    if isinstance(target, dict) or (isinstance(target, list) and isinstance(path[-1], int)):
        with contextlib.suppress(IndexError):
            target[path[-1]] = new
    return value


@st.composite
def mutated(draw):
    value = copy.deepcopy(VALID)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(PLACES))
        if draw(st.booleans()):
            path = (*path, draw(words))
        value = changed(value, path, draw(values))
    return value


def outcome(load):
    try:
        return load()
    except ConfigError as error:
        return error


def check(load):
    found = outcome(load)
    if isinstance(found, ConfigError):
        assert found.problems
        assert str(found).encode()  # it can be printed
    else:
        assert found.profiles


def test_what_is_mutated_is_valid():
    assert config.from_value(VALID, REGISTRIES[1]).warnings == ()


many = examples(200, suppress_health_check=list(HealthCheck))


@many
@given(mutated(), st.sampled_from(REGISTRIES))
def test_mutated_values(value, known):
    check(lambda: config.from_value(value, known))


@many
@given(mutated(), st.sampled_from(REGISTRIES), st.booleans())
def test_mutated_texts(value, known, as_json):
    text = json.dumps(value) if as_json else yaml.safe_dump(value, allow_unicode=True)
    check(lambda: config.load(text, known))


EXAMPLES = [
    yaml.safe_load(path.read_text())
    for path in sorted((Path(__file__).parent / "examples").rglob("*"))
    if path.is_file()
]


@many
@given(st.data())
def test_mutated_examples_of_every_version(data):
    value = copy.deepcopy(data.draw(st.sampled_from(EXAMPLES)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(value))))
        value = changed(value, path, data.draw(values))
    check(lambda: config.from_value(value, KNOWN, versions=VERSIONS))


@many
@given(st.data())
def test_damaged_texts(data):
    text = yaml.safe_dump(VALID)
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 40)))
    noise = data.draw(st.text(max_size=8) | st.sampled_from(["&a", "*a", "<<: ", "!!int ", "- ["]))
    check(lambda: config.load(text[:start] + noise + text[end:], REGISTRIES[1]))


@many
@given(st.text())
def test_any_text(text):
    check(lambda: config.load(text, REGISTRIES[1]))
