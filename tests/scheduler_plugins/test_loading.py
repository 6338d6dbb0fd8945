"""Schedulers that do not use these plugins do not load them."""

import subprocess
import sys

import pytest

from podium import app
from podium.scheduler_plugins import OFFERED

LOADED = (
    "import sys, podium.app.live, podium.app.embedded, podium.app as app; app.in_tree()\n"
    "print([name for name in sys.modules if name.startswith(('podium.scheduler_plugins.c', "
    "'podium.status_controllers.p', 'podium.status_controllers.e'))])"
)


@pytest.mark.slow
def test_nothing_is_loaded_until_a_configuration_names_a_plugin():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", OFFERED)
def test_every_registry_offers_them(name):
    for registry in (app.in_tree(), app.in_tree_with_legacy()):
        entry = registry.entry(name)
        assert (entry.name, entry.origin, entry.is_enabled) == (name, "podium", False)
