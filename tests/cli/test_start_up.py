"""`podium --help` starts fast: only what the command needs is loaded."""

import subprocess
import sys

import pytest

from podium.cli import COMMANDS

pytestmark = pytest.mark.slow

HEAVY = {"aiohttp", "asyncio", "numpy", "prometheus_client", "rich", "yaml"}
LIGHT_PARTS = {
    "podium.cli",
    "podium.api",
    "podium.durations",
    "podium.errors",
    "podium.garbage",
    "podium.release",
}
SCRIPT = """\
import sys
from podium.__main__ import main
sys.argv[1:] = {words!r}
try:
    status = main()
except SystemExit as ended:
    status = ended.code
print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
sys.exit(status)
"""


def loaded_by(*words):
    command = [sys.executable, "-c", SCRIPT.format(words=list(words))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("version",),
        ("completion", "bash"),
        ("completion", "--words", "get", "po"),
        *((command, "--help") for command in COMMANDS),
        ("config", "show", "--help"),
        ("plugin", "stats", "--help"),
    ],
    ids=" ".join,
)
def test_only_what_is_needed_is_loaded(words):
    loaded = loaded_by(*words)
    parts = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("podium.")}

    assert loaded & HEAVY == set()
    assert parts - {"podium.__main__"} <= LIGHT_PARTS


DUMP = """\
apiVersion: v1
kind: Node
metadata: {name: a, uid: n}
status: {allocatable: {cpu: "4", pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, uid: p}
spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""


def test_a_snapshot_is_explained_without_what_talks_to_clusters(tmp_path):
    """Neither an HTTP client nor the embedded API server nor CEL is needed, and all load slowly."""
    path = tmp_path / "dump.yaml"
    path.write_text(DUMP)

    loaded = loaded_by("explain", "pod", "web", "--from", str(path))

    assert loaded & {"aiohttp", "podium.apiserver.api", "podium.cel", "podium.client.http"} == set()


ENDING = """\
import atexit, sys
from podium.__main__ import start

class Kept:
    def __del__(self):
        print("freed")

kept = Kept()
sys.argv[1:] = {words!r}
try:
    status = start()
finally:
    atexit.register(print, "exit handler", flush={flushes})
sys.exit(status)
"""


@pytest.mark.parametrize(
    ("words", "flushes", "status", "is_freed"),
    [
        (["version"], False, 0, False),
        (["explain", "pod", "web", "--from", "/nowhere"], True, 2, False),
        (["nonsense"], True, 2, True),  # the command has not begun
    ],
)
def test_a_command_ends_without_freeing_its_objects(words, flushes, status, is_freed):
    script = ENDING.format(words=words, flushes=flushes)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.returncode == status, done.stderr
    assert done.stdout.splitlines()[-1 - is_freed] == "exit handler"
    assert ("freed" in done.stdout) == is_freed
