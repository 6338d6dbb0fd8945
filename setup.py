"""Makes the README's links absolute for the package index; pyproject.toml has all the rest."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
RELATIVE = re.compile(r'(?P<before>\]\(|\b(?:src|srcset|href)=")(?![a-z]+:|#)(?P<path>[^)"\s]+)')


def with_absolute_links(text: str, base: str) -> str:
    """Return Markdown whose links and pictures lead to files below an address."""
    return RELATIVE.sub(rf"\g<before>{base.rstrip('/')}/\g<path>", text)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(
        long_description=with_absolute_links(
            (ROOT / "README.md").read_text(encoding="utf-8"), project["urls"]["Homepage"]
        ),
        long_description_content_type="text/markdown",
    )
