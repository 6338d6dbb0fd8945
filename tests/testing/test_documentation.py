"""The examples of docs/testing.md pass as they stand, in a project of their own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "testing.md"
FILES = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE.read_text(), re.M | re.S))


def test_the_examples_pass(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\npythonpath = .\n")

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert run.returncode == 0, run.stdout
    tests = sum(text.count("def test_") for text in FILES.values())
    assert f"{tests} passed" in run.stdout
    assert len(FILES) == PAGE.read_text().count("```python")


def test_importing_needs_neither_pytest_nor_hypothesis():
    code = "import sys; sys.modules.update(pytest=None, hypothesis=None); import podium.testing"
    more = "; assert not [n for n in sys.modules if n.startswith('podium.apiserver')]"

    subprocess.run([sys.executable, "-c", code + more], check=True)
