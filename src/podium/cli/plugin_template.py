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


class $name(fwk.ScorePlugin):
    name = "$name"

    class Args(fwk.Args, frozen=True):
        """What pluginConfig may set, with defaults."""

        label: str = "example.com/favourite"

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self.label = args.label

    def sign(self, pod: fwk.Pod) -> tuple[str, ...]:
        """What score_all looks at in a pod, here nothing: equal pods are scored once."""
        return ()

    def depends_on(self, pod: fwk.Pod) -> fwk.Dependencies:
        """What score_all looks at in a node: when it changes, the node is scored again."""
        return fwk.Dependencies(node=fwk.Aspect.LABELS)

    def score_all(self, state: fwk.CycleState, pod: fwk.Pod, nodes: fwk.Rows) -> fwk.Scores:
        """How good each node is for the pod, from 0 to 100."""
        return nodes.labels[self.label].present * 100
''')
_TEST: Final = Template('''\
"""Run: python -m pytest"""

from $module import $name

from podium.testing import assert_signature_sound, node, pod, run_score

NODES = [node("a", labels="example.com/favourite=yes"), node("b")]


def test_score():
    assert run_score($name, pod("web"), NODES) == {"a": 100, "b": 0}


def test_the_label_is_an_argument():
    other = [node("a", labels="disk=fast"), node("b")]

    assert run_score($name, pod("web"), other, args={"label": "disk"}) == {"a": 100, "b": 0}


def test_results_may_be_reused():
    """``sign`` and ``depends_on`` leave nothing out that the plugin looks at."""
    assert_signature_sound($name, pod("web"), NODES)
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
