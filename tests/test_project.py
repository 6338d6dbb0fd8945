"""The project as a whole: modules introduce themselves, and no file depends on one machine."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MODULES = sorted((SOURCE / "podium").rglob("*.py"))

NOT_OURS = re.compile(r"\.(?!ci$|gitignore$).+|__pycache__|build|dist|.+\.egg-info")
ONE_MACHINE = re.compile(
    r"(?<![\w.-])/(?:work|home|root|Users)/\w"  # somebody's directories
    r"|\.\./shared\b"
    r"|\bpypi\.org|\bpythonhosted\.org|\bregistry\.npmjs\.org|\bproxy\.golang\.org"
    r"|--?(?:extra-)?index-url|--?find-links"
)
SIGNED = re.compile(r"""["'\n]podium: """)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def files(directory: Path) -> Iterator[Path]:
    """Every file that belongs to the project: not environments, caches or build products."""
    for path in sorted(directory.iterdir()):
        if NOT_OURS.fullmatch(path.name):
            continue
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def test_modules_start_with_what_they_are_for():
    silent = [path for path in MODULES if not path.read_text().startswith('"""')]

    assert [relative(path) for path in silent] == []


def test_page_of_modules_is_up_to_date():
    """`make modules-page` writes it anew."""
    page = subprocess.run(
        [sys.executable, ROOT / "docs" / "modules.py", "--print"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert page == (ROOT / "docs" / "modules.md").read_text()


def test_who_speaks_is_said_by_commands_and_in_no_error():
    signing = {
        "src/podium/cli/messages.py",
        "src/podium/bench/repeat.py",  # reads what a command says
        "src/podium/bench/live/cleanup.py",  # prints beside a progress bar
    }
    found = {relative(module) for module in MODULES if SIGNED.search(module.read_text())}

    assert found == signing


def test_no_file_depends_on_one_machine():
    found = [
        f"{relative(path)}:{number}: {line.strip()}"
        for path in files(ROOT)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if ONE_MACHINE.search(line)
    ]

    assert not found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("see /{}/someone/notes".format("home"), True, id="home-directory"),
        pytest.param("https://{}/simple".format("pypi." + "org"), True, id="package-registry"),
        pytest.param("label example.com/home/a", False, id="label-key"),
        pytest.param("image registry.example.com/app:1", False, id="image-of-a-container"),
    ],
)
def test_what_counts_as_one_machine(line, expected):
    assert bool(ONE_MACHINE.search(line)) == expected
