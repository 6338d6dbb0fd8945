"""deploy/components/scheduler-plugins: the same definitions as in the package, and all rights."""

from pathlib import Path

import pytest
import yaml

from podium.scheduler_plugins import OFFERED
from podium.scheduler_plugins.definitions import definitions

COMPONENT = Path(__file__).resolve().parents[2] / "deploy" / "components" / "scheduler-plugins"
DEFINITIONS = definitions(OFFERED)


def test_each_plugin_has_its_definition():
    assert len(DEFINITIONS) == len(OFFERED)
    assert [definitions([name]) for name in OFFERED] == [[one] for one in DEFINITIONS]


def test_the_component_has_the_same_definitions():
    kustomization = yaml.safe_load((COMPONENT / "kustomization.yaml").read_text())
    files = [name for name in kustomization["resources"] if name != "rights.yaml"]

    assert [yaml.safe_load((COMPONENT / name).read_text()) for name in files] == DEFINITIONS


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda one: one["metadata"]["name"])
def test_the_rights_cover_every_kind(definition):
    role, _ = yaml.safe_load_all((COMPONENT / "rights.yaml").read_text())
    granted = {
        (resource, verb)
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    plural = definition["spec"]["names"]["plural"]

    assert {(plural, "list"), (plural, "watch"), (f"{plural}/status", "patch")} <= granted
