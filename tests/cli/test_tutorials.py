"""The tutorials work: played in order on a cluster, their commands print what the pages show."""

import re
import shlex
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.commands import Shell

pytestmark = pytest.mark.slow

TUTORIALS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))
SECONDS = 60  # by then the cluster must be as the page says
SAVED_AS = re.compile(r"[Ss]ave (?:this|it) as `([\w.]+)`")
CHANGING = (  # from run to run
    r"(?<=http://127\.0\.0\.1:)\d+",
    r"(?<=kubeconfig: )\S+(?=,)",
    r"\b10\.0\.\d+\.\d+\b",  # of pods
    r"\b\d+m?\d*s\b",  # ages
    r"\b\d{4}-\d\d-\d\dT[\d:]+Z",
    r"(?<=-)[a-z0-9]{10}(?=-)",  # hashes of pod templates
    r"(?<=-)[a-z0-9]{5}(?=\s)",  # generated names
    r"(?<=-\d-)[a-z0-9]{5}(?=-)",  # of pods of a job, in the names of their claims
    r"\bnode-\d\b",  # equally good nodes are chosen by chance
)


class File(NamedTuple):
    """A file that the reader saves."""

    name: str
    text: str


class Command(NamedTuple):
    """A ``podium`` command, and the output that the page shows; empty if it shows none."""

    args: list[str]
    output: str


def steps(page):
    """Yield the files and the podium commands of a page, in order."""
    before = ""
    for part in re.split(r"^(```\w+\n.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```yaml\n"):
            yield File(SAVED_AS.findall(before)[-1], part.removeprefix("```yaml\n"))
        elif part.startswith("```console\n"):
            for typed in part.split("\n$ ")[1:]:
                line, _, output = typed.partition("\n")
                program, *args = shlex.split(line, comments=True)
                if program == "podium":
                    yield Command(args, output)
        before = part


def shows(page, printed):
    """Return whether a page shows what a command printed; ``…`` stands for anything."""
    shown = ".*".join(map(re.escape, plain(page).split("…")))
    return re.fullmatch(shown, plain(printed), re.DOTALL) is not None


def plain(text):
    """Replace what changes from run to run; columns may have other widths."""
    text = re.sub("|".join(CHANGING), "?", text)
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def play(shell, command):
    """Run a command; while things are still happening in the cluster, look again."""
    run = shell.process if command.args[0] == "up" else shell.run
    end = time.monotonic() + SECONDS
    while True:
        done = run(*command.args)
        is_shown = not command.output or shows(command.output, done.stdout)
        if is_shown or command.args[0] != "get" or time.monotonic() > end:
            break
        time.sleep(0.2)
    is_pending = command.args[0] == "explain" and "fits on none of" in done.stdout
    assert done.returncode == (1 if is_pending else 0), done.stderr
    assert is_shown, done.stdout


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path)
    try:
        for step in steps(page.read_text()):
            if isinstance(step, File):
                (tmp_path / step.name).write_text(step.text)
            else:
                play(shell, step)
        assert not shell.state.exists()
    finally:
        shell.run("down")


def test_the_tutorials_have_files_and_commands():
    for page in TUTORIALS:
        kinds = [type(step) for step in steps(page.read_text())]

        assert kinds.count(File) >= 2
        assert kinds.count(Command) >= 7


@pytest.mark.parametrize(
    ("page", "printed", "expected"),
    [
        pytest.param("pod-x7rk2   5s\n", "pod-b4lq9 12s\n", True, id="names-and-ages"),
        pytest.param("spec:\n…\n  a: 1\n…", "spec:\n  b: 2\n  a: 1\nc: 3\n", True, id="left-out"),
        pytest.param("giant   Pending", "giant Running", False, id="another-word"),
        pytest.param("giant   Pending", "giant Pending\nother Running", False, id="one-more-line"),
    ],
)
def test_what_a_page_shows_is_compared(page, printed, expected):
    assert shows(page, printed) is expected
