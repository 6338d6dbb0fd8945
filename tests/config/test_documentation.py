"""docs/configuration.md names every version, predicate, priority and dropped plugin.

What it and its neighbours show is played.
"""

import re
from pathlib import Path

import pytest

from podium.app import in_tree, plugin_loading
from podium.cli import main
from podium.config import load, upstream
from podium.legacy import VERSIONS
from podium.legacy.policy.predicates import PREDICATES
from podium.legacy.policy.priorities import PRIORITIES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "configuration.md").read_text()
# They run for names of the user's own, with an argument.
WITHOUT_A_NAME = {
    *("CheckNodeLabelPresence", "CheckServiceAffinity"),
    *("RequestedToCapacityRatio", "NodeLabel", "ServiceAffinity"),
}
ACTIONS = ("validate", "show", "convert", "diff")


@pytest.mark.parametrize("name", sorted({*PREDICATES, *PRIORITIES} - WITHOUT_A_NAME))
def test_policies(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", sorted(upstream.LEGACY_POINTS))
def test_dropped_plugins(name):
    assert f"`{name}`" in PAGE.partition("## Converting to v1")[2]


@pytest.mark.parametrize("version", VERSIONS.by_type.values(), ids=lambda version: version.name)
def test_versions(version):
    assert f"/{version.name}`" in PAGE
    assert version.last_release in PAGE


@pytest.mark.parametrize("action", ACTIONS)
def test_commands(action):
    assert f"`podium config {action} " in PAGE


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


BROKEN = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 120
profiles:
- plugins:
    score:
      enabled:
      - name: NodeResourceFit
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_problems_are_told_as_the_page_shows(folder, capsys):
    command, _, printed = blocks(PAGE, "")[0].partition("\n")
    (folder / "scheduler.yaml").write_text(BROKEN)

    assert main(command.removeprefix("$ podium ").split()) == 2
    assert capsys.readouterr().err == printed


def test_the_lines_of_python_run(folder, capsys):
    (folder / "scheduler.yaml").write_text(BROKEN.replace("120", "12").replace("eF", "esF"))
    (code,) = blocks(PAGE, "python")
    exec(code, found := {})

    assert found["configuration"].percentage_of_nodes_to_score == 12


def test_the_extender_of_its_page_is_valid():
    (text,) = blocks((DOCS / "extenders.md").read_text(), "yaml")
    (extender,) = load(text, in_tree()).extenders

    assert (extender.filter_verb, extender.http_timeout, extender.enable_https) == (
        "filter",
        2,
        True,
    )


def test_the_configuration_of_a_plugins_author_is_valid(folder):
    """With the class that the page has."""
    page = (DOCS / "plugins" / "writing.md").read_text()
    (text,) = (each for each in blocks(page, "yaml") if "Cheapest" in each)
    (code,) = (each for each in blocks(page, "python") if "class Cheapest" in each)
    (folder / "cheapest.py").write_text(code)
    (profile,) = load(text, plugin_loading.registry(["cheapest.py"])).profiles

    assert profile.weights["Cheapest"] == 5
    assert profile.args["Cheapest"].price_label == "example.com/spot-price"
