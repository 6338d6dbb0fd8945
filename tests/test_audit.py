"""The audit of dependencies fails for a known problem, and says what it could not look up."""

import json
import sys

import pytest

from tools import audit

CLEAN = {"name": "rich", "version": "15.0.0", "vulns": []}
SKIPPED = {"name": "attrs", "skip_reason": "not found"}
OTHERS = "the package index knows nothing about the other"
BROKEN = {
    "name": "idna",
    "version": "3.6",
    "vulns": [{"id": "PYSEC-2024-60", "fix_versions": ["3.7"], "description": "…"}],
}


@pytest.mark.parametrize(
    ("dependencies", "lines", "has_problems"),
    [
        pytest.param(
            [CLEAN, BROKEN],
            [
                "audit: idna 3.6 has PYSEC-2024-60; mended in: 3.7",
                "audit: 2 of 2 packages were looked up",
            ],
            True,
            id="a-known-problem",
        ),
        pytest.param(
            [CLEAN, SKIPPED],
            [f"audit: 1 of 2 packages were looked up; {OTHERS} 1"],
            False,
            id="not-looked-up",
        ),
    ],
)
def test_what_it_says(dependencies, lines, has_problems):
    assert audit.judged(dependencies) == (lines, has_problems)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        pytest.param(json.dumps({"dependencies": [BROKEN]}), 1, "PYSEC", id="bad"),
        pytest.param("Traceback", 0, "nothing was looked up", id="no-answer"),
    ],
)
def test_the_exit_code(tmp_path, capsys, answer, code, said):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable}\nprint({answer!r})\n")
    program.chmod(0o755)

    assert audit.main(str(program)) == code
    assert said in capsys.readouterr().out


def test_a_missing_program_is_not_a_problem_of_a_dependency(tmp_path, capsys):
    assert audit.main(str(tmp_path / "none")) == 0
    assert "nothing was looked up" in capsys.readouterr().out
