"""Broken files: each with the path, the line and the advice that its author needs."""

from pathlib import Path

import pytest
import yaml

from tests.support.configurations import problems

BROKEN = yaml.safe_load((Path(__file__).parent / "broken.yaml").read_text())
VERSIONS = "v1 v1beta3 v1beta2 v1beta1 v1alpha2 v1alpha1 Policy"


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name):
    case = BROKEN[name]
    path, line = case["at"].removesuffix(")").split(" (")

    [problem] = problems(case["version"], case["text"])

    assert problem.startswith(f"{path} (line {line}): ")
    assert case["advice"] in problem


def test_every_version_is_there():
    assert {case["version"] for case in BROKEN.values()} == set(VERSIONS.split())
    assert len(BROKEN) >= 80
