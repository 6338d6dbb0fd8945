"""What the package index shows: the README with links that work there."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def setup():
    spec = importlib.util.spec_from_file_location("podium_setup", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/a.md#b)", "[a](https://example.com/docs/a.md#b)"),
        ("[a](#b) [c](https://d)", "[a](#b) [c](https://d)"),
        ('<img src="a.svg">', '<img src="https://example.com/a.svg">'),
        ('<source srcset="a.svg">', '<source srcset="https://example.com/a.svg">'),
        ("`f(a)` and [b]", "`f(a)` and [b]"),
    ],
)
def test_links(setup, text, expected):
    assert setup.with_absolute_links(text, "https://example.com/") == expected


def test_every_link_of_the_readme_is_a_file(setup):
    """So that the address it becomes is one, too."""
    found = [match["path"] for match in setup.RELATIVE.finditer((ROOT / "README.md").read_text())]

    assert found
    assert [path for path in found if not (ROOT / path.partition("#")[0]).exists()] == []


def test_every_file_that_is_not_code_is_package_data():
    """By its suffix, for packages that have any."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    data = settings["package-data"]
    for path in (ROOT / "src" / "podium").rglob("*"):
        if path.is_dir() or path.suffix in (".py", ".pyc"):
            continue
        package = ".".join(path.parent.relative_to(ROOT / "src").parts)
        assert any(path.match(pattern) for pattern in data[package]), path
