"""docs/plugins/writing.md: its first minute is played, and nothing that exists is left out."""

import re
import time
from pathlib import Path

import pytest

import podium
from podium import framework as fwk
from podium.app import plugin_loading
from podium.framework.handle import Handle
from podium.framework.points import Point
from podium.framework.registry import Registry
from podium.testing import FakeHandle, node, pod
from tests.support.commands import Shell

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "plugins" / "writing.md").read_text()
MINUTE = PAGE.split("## One minute")[1].split("\n## ")[0]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(text):
    """(command, what the page shows it to print)."""
    for block in blocks(text, "console"):
        for each in block.split("$ podium ")[1:]:
            command, _, printed = each.partition("\n")
            yield command.split(), printed


def edit(path, diff):
    """Apply the lines of the page: each removed one has its new form after it."""
    text = path.read_text()
    lines = diff.splitlines()
    for old, new in zip(lines[::2], lines[1::2], strict=True):
        assert (old[0], new[0]) == ("-", "+")
        assert text.count(f"{old[1:]}\n") == 1
        text = text.replace(f"{old[1:]}\n", f"{new[1:]}\n")
    path.write_text(text)


@pytest.mark.slow
def test_the_minute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shell = Shell(tmp_path / "home")
    (diff,) = blocks(MINUTE, "diff")
    (manifest,) = blocks(MINUTE, "yaml")
    told = {}
    try:
        for command, printed in commands(MINUTE):
            if command[0] == "up":
                edit(tmp_path / "fast_disk.py", diff)
                (tmp_path / "pod.yaml").write_text(manifest)
            if command[0] == "get":
                wait_for_node(shell)  # a person is slower than the scheduler
            done = shell.process(*command) if command[0] == "up" else shell.run(*command)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith(printed)
            told[" ".join(command[:2])] = done.stdout
    finally:
        shell.run("down")

    assert len(diff.splitlines()) == 2 * 3, "three lines"
    assert re.search(r"^web\s.*\bnode-2\b", told["get pods"], re.MULTILINE)
    assert re.search(r"^FastDisk\s+Score\s+1\s+3\s", told["plugin stats"], re.MULTILINE)
    assert "Every plugin has a signature" in told["plugin stats"], "it is fast as it stands"


def wait_for_node(shell):
    deadline = time.monotonic() + 60  # asked by number of tries, a fast machine gives up too soon
    while time.monotonic() < deadline:
        if "Running" in shell.out("get", "pods"):
            return
    raise AssertionError("the pod does not run")


def test_the_page_has_every_extension_point():
    interfaces = [point.interface for point in Point] + [fwk.EnqueueExtensions]
    missing = [
        name
        for kind in (*interfaces, fwk.PreFilterExtensions)
        for name in (f"`{kind.__name__}`", *(f"`{each}" for each in own_methods(kind)))
        if name not in PAGE
    ]

    assert not missing


def own_methods(kind):
    return [name for name in kind.__abstractmethods__ if name in vars(kind)]


def test_the_page_has_every_decorator_and_what_it_may_be_given():
    rows = dict(re.findall(r"^\| `@podium\.(\w+)` \| (.+?) \|", PAGE, re.MULTILINE))

    assert rows.keys() == set(podium.__all__) - {"main", "Scheduler", "Simulation"}
    for name, parameters in rows.items():
        wanted = ", ".join(re.findall(r"`(\w+)`", parameters))
        namespace = {"podium": podium}
        exec(f"@podium.{name}\ndef all_of_it({wanted}): ...", namespace)  # or it is refused


def test_the_page_has_all_of_the_handle():
    known = [name for name in vars(Handle) if not name.startswith("_")]
    missing = [name for name in known if not re.search(rf"`{name}\b", PAGE)]

    assert not missing


def test_the_page_has_every_example():
    files = {path.name for path in (ROOT / "examples" / "plugins").glob("*.py")}

    assert files <= set(re.findall(r"examples/plugins/(\w+\.py)\)", PAGE))
    for link in re.findall(r"\]\((\.\./[\w/.]+)\)", PAGE):
        assert (ROOT / "docs" / "plugins" / link).exists()


@pytest.mark.parametrize("heading", ["A function", "A class"])
def test_the_code_of_the_page_loads(heading, tmp_path, monkeypatch):
    (section,) = [part for part in PAGE.split("\n## ") if part.startswith(f"{heading}\n")]
    (code,) = blocks(section, "python")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.py").write_text(code)

    found = plugin_loading.load("page.py")

    assert [each.__name__ for each in found] in (
        ["no_spot", "most_free"],
        ["Cheapest"],
    )
    if heading == "A class":
        handle = FakeHandle(node("a", labels="example.com/price=30"))
        plugin = Registry(found).build("Cheapest", found[0].Args(), handle)
        assert plugin.score(fwk.CycleState(), pod("web"), handle.rows.at(0)) == 70
