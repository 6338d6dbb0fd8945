"""Files that are saved, half written, removed and replaced while they are watched."""

import os

import pytest

from podium.app.file_watching import FileWatch


class Watched:
    """A file, and what its watch has reported."""

    def __init__(self, path):
        self.path = path
        self.reports = []
        self.faults = []
        path.write_text("first")
        self.watch = FileWatch([path], self._reload, lambda *report: self.reports.append(report))

    def _reload(self):
        if self.faults:
            raise self.faults.pop()

    def look(self, times=2):
        for _ in range(times):
            self.watch.look()


@pytest.fixture
def watched(tmp_path):
    return Watched(tmp_path / "scheduler.yaml")


SAVED = (["scheduler.yaml"], None)


def test_a_saved_file_is_reloaded_once(watched):
    watched.look(3)
    assert watched.reports == []

    watched.path.write_text("second")
    watched.look(5)
    assert watched.reports == [SAVED]


def test_a_file_is_not_read_while_it_grows(watched):
    for text in ("s", "se", "sec"):
        watched.path.write_text(text)
        watched.look(1)
    assert watched.reports == []

    watched.look(1)
    assert watched.reports == [SAVED]


def test_a_failed_reload_is_reported_once_and_the_next_save_is_loaded(watched):
    watched.faults = [ValueError("odd")]
    watched.path.write_text("second")
    watched.look(5)
    watched.path.write_text("third one")
    watched.look(5)

    problem = "scheduler.yaml: cannot be loaded: ValueError: odd"
    assert watched.reports == [(["scheduler.yaml"], problem), SAVED]


def _remove(path):
    path.unlink()


def _become_a_directory(path):
    path.unlink()
    path.mkdir()


def _change_the_permissions(path):
    path.chmod(0o600 if path.stat().st_mode & 0o077 else 0o644)


def _replace_by_a_file_of_the_same_length(path):
    other = path.with_name("new")
    other.write_text("fIRst")
    os.replace(other, path)


@pytest.mark.parametrize(
    "change",
    [
        _remove,
        _become_a_directory,
        _change_the_permissions,
        _replace_by_a_file_of_the_same_length,
    ],
)
def test_any_change_is_noticed(watched, change):
    change(watched.path)
    watched.look()

    assert watched.reports == [SAVED]


def test_the_symbolic_link_of_a_config_map_is_swapped(tmp_path):
    """As the kubelet does it: file -> ..data/file, ..data -> a directory with a time stamp."""
    for version in ("..one", "..two"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "scheduler.yaml").write_text(version)
    (tmp_path / "..data").symlink_to("..one")
    path = tmp_path / "scheduler.yaml"
    path.symlink_to("..data/scheduler.yaml")
    read = []
    watch = FileWatch([path], lambda: read.append(path.read_text()), lambda *_: None)

    (tmp_path / "..data_tmp").symlink_to("..two")
    os.replace(tmp_path / "..data_tmp", tmp_path / "..data")
    watch.look()
    watch.look()

    assert read == ["..two"]
