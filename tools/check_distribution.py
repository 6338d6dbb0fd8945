"""Check the wheel and the source distribution in dist/: `make dist` builds both and runs this.

The source distribution has every file of the repository and nothing else; the wheel has every file
of the package and nothing else. All mistakes are printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_SHIPPED = {".gitignore"}
MADE_BY_BUILD = re.compile(r"PKG-INFO|setup\.cfg|src/podium\.egg-info/.+")
RELATIVE_LINK = re.compile(r'\]\((?![a-z]+:|#)[^)]*\)|(?:src|srcset)="(?![a-z]+:)[^"]*"')
URLS = {"Homepage", "Documentation", "Changelog", "Source"}
# Starts the API server's parts, which read the data files of the package.
SMOKE = """\
import sys
import podium
from podium.apiserver.bootstrap import new_api
from podium.cli import main
from podium.clock import FakeClock
assert podium.__file__.startswith(sys.argv[1]), podium.__file__
assert new_api(FakeClock()).kind("pods")
sys.exit(main(["version"]))
"""


def main() -> int:
    files = repository_files()
    with tempfile.TemporaryDirectory() as directory:
        mistakes = [
            *check_source(only("*.tar.gz"), files - NOT_SHIPPED),
            *check_wheel(only("*.whl"), files, Path(directory)),
        ]
    print("\n".join(mistakes) or "the wheel and the source distribution are complete")
    return 1 if mistakes else 0


def repository_files() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(listed.stdout.splitlines())


def only(pattern: str) -> Path:
    found = list((ROOT / "dist").glob(pattern))
    if len(found) != 1:
        sys.exit(f"dist/ must have one {pattern}, not {len(found)}; run: make dist")
    return found[0]


def check_source(path: Path, expected: set[str]) -> Iterator[str]:
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if "/" in name}
        folders = {m.name.partition("/")[2] for m in archive.getmembers() if m.isdir()}
    shipped = {name for name in names - folders if not MADE_BY_BUILD.fullmatch(name)}
    yield from differences(path.name, shipped, expected)


def check_wheel(path: Path, files: Iterable[str], directory: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = Parser().parsestr(archive.read(metadata).decode())
        archive.extractall(directory)
    prefix = "src/"
    expected = {name.removeprefix(prefix) for name in files if name.startswith(f"{prefix}podium/")}
    info = metadata.rpartition("/")[0]
    package = {name for name in names if not name.startswith(f"{info}/")}
    yield from differences(path.name, package, expected)
    for name in ("entry_points.txt", "licenses/LICENSE"):
        if f"{info}/{name}" not in names:
            yield f"{path.name}: {info}/{name} is missing"
    given = {value.partition(",")[0] for value in described.get_all("Project-URL", [])}
    if given != URLS:
        yield f"{path.name}: project URLs {sorted(given)}, expected {sorted(URLS)}"
    yield from (
        f"{path.name}: the README has a relative link: {link}"
        for link in RELATIVE_LINK.findall(described.get_payload())
    )
    yield from check_that_it_runs(path.name, directory)


def check_that_it_runs(name: str, directory: Path) -> Iterator[str]:
    command = [sys.executable, "-c", SMOKE, str(directory)]
    done = subprocess.run(
        command, cwd=directory, env={"PYTHONPATH": str(directory)}, capture_output=True, text=True
    )
    if done.returncode:
        yield f"{name}: does not run: {done.stderr}"


def differences(name: str, found: set[str], expected: set[str]) -> Iterator[str]:
    yield from (f"{name}: {path} is missing" for path in sorted(expected - found))
    yield from (f"{name}: {path} does not belong here" for path in sorted(found - expected))


if __name__ == "__main__":
    sys.exit(main())
