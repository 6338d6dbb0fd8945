"""Where the programs of a real control plane are: what `setup-envtest` downloads, found again."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

RELEASE = "1.36"
NEEDED = ("etcd", "kube-apiserver", "kubectl")
MISSING = (
    f"no control plane: set KUBEBUILDER_ASSETS to a folder with {', '.join(NEEDED)} "
    f"(setup-envtest use {RELEASE}.x)"
)


class NoControlPlane(Exception):
    """There are no programs to start; the message says what to do."""


@dataclass(frozen=True)
class Binaries:
    """A folder with the programs; some come with more of them, such as kube-scheduler."""

    folder: Path

    def __getitem__(self, name):
        path = self.folder / name
        if not os.access(path, os.X_OK):
            raise NoControlPlane(f"no control plane: {self.folder} has no {name}")
        return str(path)


def find_binaries(environment=os.environ):
    """The folder that the environment names, else the newest that setup-envtest has put down."""
    named = environment.get("KUBEBUILDER_ASSETS")
    folders = [Path(named)] if named else downloaded(data_folder(environment, sys.platform))
    for folder in folders:
        if all(os.access(folder / name, os.X_OK) for name in NEEDED):
            return Binaries(folder)
    raise NoControlPlane(MISSING)


def data_folder(environment, platform):
    """The user's folder for data of programs, as setup-envtest takes it on each platform."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or "/")
    if platform == "win32":
        return Path(environment.get("LocalAppData") or home / "AppData" / "Local")
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")


def downloaded(data):
    """Folders of the release that we follow, newest first."""
    found = []
    for folder in (data / "kubebuilder-envtest" / "k8s").glob(f"{RELEASE}.*-*"):
        version = re.match(r"1\.36\.(\d+)-", folder.name)
        if version:
            found.append((int(version[1]), folder))
    return [folder for _, folder in sorted(found, reverse=True)]
