"""Reason codes: every message of the default plugins has one, and the docs list them all."""

import re
from pathlib import Path

import pytest

from podium import app, config
from podium.explain.fixes.search import FINDERS
from podium.explain.reasons import (
    MEANINGS,
    NO_SUCH_SCHEDULER,
    PLUGIN_FAILED,
    REFUSED,
    meaning_of,
)
from podium.framework.plugin import Plugin
from tests.support import source_messages
from tests.support.pending_pods import FAMILIES, scenario

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "explain.md").read_text()
PACKAGE = ROOT / "src" / "podium" / "explain"


def default_plugins() -> list[Plugin]:
    registry = app.in_tree()
    profile = app.build(config.default(registry), registry=registry).profiles["default-scheduler"]
    found = {plugin.name: plugin for plugins in profile.plugins.values() for plugin in plugins}
    return list(found.values())


@pytest.mark.parametrize("plugin", default_plugins(), ids=lambda plugin: plugin.name)
def test_every_message_of_a_default_plugin_has_a_code(plugin):
    said = source_messages.of(type(plugin))
    # The names of objects are filled in: "{} "{}" not found" is about a claim, volume or class.
    messages = {text.replace("{}", "persistentvolumeclaim", 1) for text in said}
    unknown = [text for text in messages if meaning_of(plugin.name, text).code == REFUSED]

    assert unknown == []


@pytest.mark.parametrize(
    ("plugin", "message", "code"),
    [
        ("NodeResourcesFit", "Insufficient example.com/gpu", "InsufficientResource"),
        ("VolumeZone", 'persistentvolume "pv" not found', "VolumeNotFound"),
        ("VolumeBinding", 'persistentvolumeclaim "data" not found', "ClaimNotFound"),
        ("InterPodAffinity", "node(s) didn't match pod anti-affinity rules", "PodAntiAffinity"),
        ("InterPodAffinity", "node(s) didn't match pod affinity rules", "PodAffinityMismatch"),
        ("Mine", "too far away", "Refused"),
    ],
)
def test_codes(plugin, message, code):
    assert meaning_of(plugin, message).code == code


def test_docs_list_every_code():
    codes = {each.code for each in MEANINGS} | {NO_SUCH_SCHEDULER, PLUGIN_FAILED, REFUSED}

    assert [code for code in codes if f"`{code}`" not in DOCS] == []


def test_docs_list_every_kind_of_fix():
    source = "".join(path.read_text() for path in sorted(PACKAGE.rglob("*.py")))
    kinds = set(re.findall(r'(?:Candidate|Kind|Fix)\(\s*"([a-z-]+)"', source))
    kinds |= set(re.findall(r'(?:KIND|_COMBINATION): Final = "([a-z-]+)"', source))
    kinds |= set(re.findall(r'_evicting\(case, "([a-z-]+)"', source))

    assert len(kinds) > len(FINDERS)  # one finder may have several, and there are combinations
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in DOCS] == []


def test_every_code_about_nodes_or_pods_has_words():
    assert all(meaning.text for meaning in MEANINGS)


def test_words_about_a_pod_do_not_speak_of_another_one():
    """Words about a node name the pod: "has a taint that the pod does not tolerate"."""
    about_pods = [meaning for meaning in MEANINGS if meaning.is_about_pod]

    assert [each for each in about_pods if re.search(r"\bthe pod\b", each.text)] == []
    subjects = r"^(waits|finds|belongs|preempts|may not|would get|has a (resource )?claim)\b"
    assert [
        each for each in MEANINGS if re.search(subjects, each.text) and not each.is_about_pod
    ] == []


def test_families_cover_the_default_filters():
    codes = {code for number in range(len(FAMILIES)) for code in scenario(number).codes}
    plugins = {meaning.plugin for meaning in MEANINGS if meaning.code in codes}
    filters = {p.name for p in default_plugins() if hasattr(p, "filter_all")}

    assert filters - plugins <= {"NodeName"}  # a pod that names its node is not scheduled
