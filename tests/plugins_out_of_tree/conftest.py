"""Files of plugins in a directory of their own."""

import sys

import pytest


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a file into the current directory, which is empty at first."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)

    def write_it(text, name="rack.py"):
        (tmp_path / name).write_text(text)
        return name

    yield write_it
    for name in set(sys.modules) - before:
        if name.startswith(("podium_plugin_", "a_package")):
            del sys.modules[name]
