"""``podium version``: the versions of podium, of the Kubernetes it follows, and of Python."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version

from podium.release import LATEST, RELEASES


def run(args: argparse.Namespace) -> int:
    print(f"podium      {podium_version()}")
    others = " and ".join(str(each) for each in RELEASES if each != LATEST)
    flags = "podium scheduler --emulated-version, other commands --kubernetes-version"
    print(f"Kubernetes  {LATEST} (as {others}: {flags})")
    print(f"Python      {platform.python_version()}")
    return 0


def podium_version() -> str:
    try:
        return version("podium")
    except PackageNotFoundError:
        return "(not installed: run from its source)"
