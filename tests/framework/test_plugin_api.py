"""The plugin API stays as it is, unless a change is meant: docs/plugins/api.md."""

import json
import re
from pathlib import Path

import pytest

from podium import framework as fwk
from tests.support.plugin_api import RECORDED, described

PAGE = (Path(__file__).parents[2] / "docs/plugins/api.md").read_text()


def test_stable_names_keep_their_signatures():
    recorded, now = json.loads(RECORDED.read_text()), described()

    changed = {name for name in recorded.keys() | now.keys() if recorded.get(name) != now.get(name)}
    assert not changed, "if it is meant: python -m tests.support.plugin_api; see there"


def test_a_changed_signature_is_noticed(monkeypatch):
    monkeypatch.setattr(fwk.Rows, "free", lambda self, name: None)
    assert described()["fwk.Rows"] != json.loads(RECORDED.read_text())["fwk.Rows"]


@pytest.mark.parametrize("name", sorted(fwk.__all__))
def test_the_page_has_every_name(name):
    assert re.search(rf"`{name}\b", PAGE)


def test_the_page_has_no_other_names():
    tables = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    named = {name for row in tables for name in re.findall(r"`(\w+)`", row)}

    assert named <= set(fwk.__all__)


def test_the_page_has_the_version():
    assert f"`fwk.API_VERSION` is `{fwk.API_VERSION}`" in PAGE
