"""Where the programs of a control plane are looked for; these need none of them."""

from pathlib import Path

import pytest

from tests.support.control_plane.plane import (
    MISSING,
    NEEDED,
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


def test_newest_download_of_the_release_is_taken(tmp_path):
    for version in ("1.35.9", "1.36.2", "1.36.10", "1.37.0"):
        put_down(downloads(tmp_path) / f"{version}-linux-amd64")

    found = find_binaries({"XDG_DATA_HOME": str(tmp_path), "HOME": "/"})

    assert found.folder.name == "1.36.10-linux-amd64"


def test_folder_that_is_named_wins(tmp_path):
    put_down(downloads(tmp_path) / "1.36.2-linux-amd64")
    named = put_down(tmp_path / "named")

    found = find_binaries({"XDG_DATA_HOME": str(tmp_path), "KUBEBUILDER_ASSETS": str(named)})

    assert found.folder == named
    assert found["etcd"] == str(named / "etcd")


@pytest.mark.parametrize("names", [(), ("etcd",), ("etcd", "kubectl")])
def test_folder_without_all_programs_is_none(tmp_path, names):
    named = put_down(tmp_path / "named", names)

    with pytest.raises(NoControlPlane) as refusal:
        find_binaries({"KUBEBUILDER_ASSETS": str(named)})

    assert str(refusal.value) == MISSING


def test_program_that_only_some_folders_have(tmp_path):
    found = find_binaries({"KUBEBUILDER_ASSETS": str(put_down(tmp_path / "named"))})

    with pytest.raises(NoControlPlane, match="has no kube-scheduler"):
        found["kube-scheduler"]
