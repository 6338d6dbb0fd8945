"""The files that `podium plugin new` writes: a plugin that runs as it stands, and its test."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template
from typing import Final

from podium import app
from podium.errors import PodiumError

_PLUGIN: Final = Template('''\
"""$name: prefer the nodes with a label.

Try it: podium up --plugin $module.py --watch
"""

from podium import framework as fwk
from podium.api.objects import Pod


class $name(fwk.FilterPlugin, fwk.ScorePlugin):
    name = "$name"

    class Args(fwk.Args, frozen=True):
        """What pluginConfig may set, with defaults."""

        label: str = "example.com/favourite"

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.label = args.label

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status | None:
        """None lets the pod run on this node; fwk.Status.unschedulable("why not") does not."""
        return None

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        """From 0 to 100: how good this node is for the pod."""
        return 100 if self.label in node.labels else 0
''')
_TEST: Final = Template('''\
"""Run: python -m pytest"""

import pytest
from $module import $name

from podium import framework as fwk
from podium.testing import FakeHandle, node, pod


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param("example.com/favourite=yes", 100, id="favourite"),
        pytest.param("", 0, id="any-other"),
    ],
)
def test_score(labels, expected):
    handle = FakeHandle(node("a", labels=labels))
    plugin = $name($name.Args(), handle)

    assert plugin.filter(fwk.CycleState(), pod("web"), handle.rows.at(0)) is None
    assert plugin.score(fwk.CycleState(), pod("web"), handle.rows.at(0)) == expected
''')


def write(name: str, directory: Path) -> tuple[Path, Path]:
    """Write both files and return them; what is there already stays as it is."""
    _check(name)
    module = snake_case(name)
    texts = {
        directory / f"{module}.py": _PLUGIN.substitute(name=name, module=module),
        directory / f"test_{module}.py": _TEST.substitute(name=name, module=module),
    }
    for path in texts:
        if path.exists():
            raise PodiumError(f"{path} exists already: choose another name or move it")
    for path, text in texts.items():
        try:
            path.write_text(text)
        except OSError as error:
            raise PodiumError(f"{path}: cannot be written: {error.strerror}") from error
    plugin, test = texts
    return plugin, test


def _check(name: str) -> None:
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or keyword.iskeyword(name):
        words = re.findall(r"[A-Za-z][A-Za-z0-9]*", name)
        better = "".join(word[0].upper() + word[1:] for word in words) or "EmptiestRack"
        text = f'"{name}" cannot be the name of a plugin: letters and digits, first a capital'
        raise PodiumError(f"{text}, such as {better}")
    if name in app.in_tree_with_legacy():
        raise PodiumError(f"{name} is a plugin of podium: choose another name")


def snake_case(name: str) -> str:
    """``GPUPacking`` as ``gpu_packing``."""
    return "_".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[0-9]+", name)).lower()
