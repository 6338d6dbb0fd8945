"""Where the programs of a control plane are looked for; these need none of them."""

import os
from pathlib import Path

import pytest

from podium.release import V1_36, V1_37
from tests.support.control_plane.plane import (
    MISSING,
    NEEDED,
    Binaries,
    NoControlPlane,
    data_folder,
    find_binaries,
)


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/share"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/data"}, "/data"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support"),
        ("win32", {"LocalAppData": "/h/AppData/Local"}, "/h/AppData/Local"),
        ("win32", {"USERPROFILE": "/h"}, "/h/AppData/Local"),
    ],
)
def test_data_folder_of_each_platform(platform, environment, expected):
    assert data_folder(environment, platform) == Path(expected)


def put_down(folder, names=NEEDED):
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


def downloads(tmp_path):
    return tmp_path / "kubebuilder-envtest" / "k8s"


def test_newest_download_of_each_release_is_taken(tmp_path):
    for version in ("1.35.9", "1.36.2", "1.36.10", "1.37.0", "1.38.1"):
        put_down(downloads(tmp_path) / f"{version}-linux-amd64")

    found = find_binaries({"XDG_DATA_HOME": str(tmp_path), "HOME": "/"})

    assert [one.folder.name for one in found] == ["1.37.0-linux-amd64", "1.36.10-linux-amd64"]


def test_folders_that_are_named_win(tmp_path):
    put_down(downloads(tmp_path) / "1.36.2-linux-amd64")
    folders = [put_down(tmp_path / name) for name in ("first", "second")]
    named = os.pathsep.join(map(str, folders))

    found = find_binaries({"XDG_DATA_HOME": str(tmp_path), "KUBEBUILDER_ASSETS": named})

    assert [one.folder for one in found] == folders
    assert found[0]["etcd"] == str(folders[0] / "etcd")


@pytest.mark.parametrize(
    ("said", "expected"), [("v1.36.4", V1_36), ("v1.37.0-rc.1", V1_37)], ids=str
)
def test_release_of_a_folder(tmp_path, said, expected):
    folder = put_down(tmp_path / "named")
    (folder / "kube-apiserver").write_text(f"#!/bin/sh\necho Kubernetes {said}\n")

    assert Binaries(folder).release == expected


@pytest.mark.parametrize("names", [(), ("etcd",), ("etcd", "kubectl")])
def test_folder_without_all_programs_is_none(tmp_path, names):
    named = put_down(tmp_path / "named", names)

    with pytest.raises(NoControlPlane) as refusal:
        find_binaries({"KUBEBUILDER_ASSETS": str(named)})

    assert str(refusal.value) == MISSING


def test_program_that_only_some_folders_have(tmp_path):
    (found,) = find_binaries({"KUBEBUILDER_ASSETS": str(put_down(tmp_path / "named"))})

    with pytest.raises(NoControlPlane, match="has no kube-scheduler"):
        found["kube-scheduler"]
