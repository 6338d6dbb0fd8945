"""kube-scheduler's command line beside ours: its flags, its gates, and what it writes."""

import re
import subprocess
from pathlib import Path

import pytest

from podium import app
from podium.cli.arguments.parser import Parser
from podium.cli.arguments.scheduler_flags import FLAGS, Given, add_options
from podium.config.dump import dump, to_yaml
from podium.config.feature_gates import FeatureGates, Stage, gates_of
from podium.config.load import read
from podium.config.version import V1
from podium.legacy import VERSIONS
from podium.legacy.convert import as_v1
from tests.support.control_plane.plane import write_kubeconfig
from tests.support.control_plane.processes import free_port

pytestmark = pytest.mark.cluster

FILES = Path(__file__).parent.parent / "config"


def v1_files():
    """Those that kube-scheduler reads, but for one that needs certificates."""
    paths = sorted([*(FILES / "examples").rglob("*.yaml"), FILES / "dumps" / "given.yaml"])
    texts = {path: path.read_text() for path in paths}
    header = f"apiVersion: {V1.api_version}\nkind: {V1.kind}\n"
    return [path for path, text in texts.items() if header in text and "caFile" not in text]


@pytest.fixture(scope="module")
def help_text(binaries):
    command = [binaries["kube-scheduler"], "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_flags(help_text):
    theirs = set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", help_text, re.MULTILINE))

    assert theirs - {"help"} == FLAGS.keys()


def test_flags_are_logged_alike(binaries):
    """But for --help, and for a flag with another default."""
    words = ["-v=1", "--kubeconfig=/nowhere", "--secure-port=0", "--leader-elect=false"]
    words += ["--kube-api-qps=0.5", "--leader-elect-lease-duration=90s", "--emulated-version=1.36"]
    words += ["--feature-gates=StorageCapacityScoring=true", "--vmodule=a=1,b=2"]
    words += ["--requestheader-uid-headers=a,b", "--tls-sni-cert-key=a,b", "--profiling"]
    done = subprocess.run(
        [binaries["kube-scheduler"], *words], capture_output=True, text=True, timeout=60
    )
    parser = Parser(allow_abbrev=False)
    add_options(parser)
    ours = Given(parser.parse_args(words)).log_lines()
    theirs = re.findall(r"FLAG: .*", done.stderr)

    assert theirs
    other = ("FLAG: --help", "FLAG: --logging-format")
    assert [line for line in theirs if not line.startswith(other)] == [
        line for line in ours if not line.startswith(other)
    ]


def test_gates(help_text, binaries):
    """Those that are generally available or deprecated are not shown."""
    theirs = re.findall(r"kube:(\w+)=true\|false \((\w+) - default=(\w+)\)", help_text)

    assert {each for each in theirs if each[0] not in ("AllAlpha", "AllBeta")} == {
        (gate.name, gate.stage.name, str(gate.default).lower())
        for gate in gates_of(binaries.release).values()
        if gate.stage in (Stage.ALPHA, Stage.BETA)
    }


@pytest.mark.parametrize("path", v1_files(), ids=lambda path: path.stem)
def test_written_configuration(path, binaries, tmp_path):
    """Byte for byte, but for a line that means something else to podium."""
    text = re.sub(r"(kubeconfig: )[^\s,}]+", r"\1scheduler.conf", path.read_text())
    (tmp_path / "given.yaml").write_text(text)
    write_kubeconfig(tmp_path / "scheduler.conf", {"server": "http://127.0.0.1:9"}, {})
    files = ["--config=given.yaml", "--write-config-to=written.yaml", "--master=http://127.0.0.1:9"]
    serving = ["--bind-address=127.0.0.1", f"--secure-port={free_port()}"]
    command = [binaries["kube-scheduler"], *files, *serving, "--authentication-skip-lookup"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr

    registry = app.in_tree_with_legacy(FeatureGates(binaries.release))
    reading = read(text, registry, versions=VERSIONS)
    ours = to_yaml(dump(as_v1(reading, registry, path.name), reading.configuration, registry))
    theirs = (tmp_path / "written.yaml").read_text().splitlines()
    assert ours.splitlines() == [line for line in theirs if line != NOT_GIVEN]


NOT_GIVEN = "percentageOfNodesToScore: 0"
