"""The programs in docs/embedded-cluster.md run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "embedded-cluster.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS, ids=["fake-time", "in-a-program"])
def test_the_program_runs(program):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
