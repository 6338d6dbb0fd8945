"""The Dockerfile and what it installs: rules that hold without building it."""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.image import DOCKERFILE, ROOT, instructions

LOCKED = ROOT / "requirements.lock"
INSTALLED = [ROOT / "deploy" / name for name in ("requirements.txt", "build-requirements.txt")]


def pins(path):
    """The version of each package in a file of requirements."""
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def needed(name, extras=()):
    """Everything that a package needs, with these extras."""
    found = set()
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        environments = [{"extra": extra} for extra in (*extras, "")]
        marker = requirement.marker
        if marker is None or any(marker.evaluate(each) for each in environments):
            inner = canonicalize_name(requirement.name)
            if inner not in found:
                found |= {inner} | needed(inner, requirement.extras)
    return found


@pytest.mark.parametrize("path", INSTALLED, ids=lambda path: path.name)
def test_requirements_are_those_of_the_tests(path):
    locked = pins(LOCKED)

    assert {name: locked.get(name) for name in pins(path)} == pins(path)


@pytest.mark.parametrize("path", INSTALLED, ids=lambda path: path.name)
def test_every_requirement_has_a_hash(path):
    text = re.sub(r"\\\n", " ", path.read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]

    assert lines
    assert [line[:60] for line in lines if "--hash=sha256:" not in line] == []


def test_the_image_has_what_podium_needs_and_no_more():
    assert set(pins(INSTALLED[0])) == needed("podium", ["tracing"])


def test_the_last_stage_is_not_root_and_installs_nothing():
    steps = list(instructions(DOCKERFILE.read_text()))
    last = max(at for at, (name, _) in enumerate(steps) if name == "FROM")
    stage = steps[last + 1 :]

    assert ("USER", "65532:65532") in stage
    assert "RUN" not in [name for name, _ in stage]


def test_the_linter_has_nothing_to_say():
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "")
