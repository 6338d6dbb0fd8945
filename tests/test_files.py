"""Files that users name: limits when they are read, and no half or wrong file when written."""

import gzip
import os
import stat
from pathlib import Path

import pytest

from podium import files
from podium.errors import PodiumError


def write(path, data=b"new", **options):
    with files.replacing(path, **options) as file:
        file.write(data)


def test_writes_a_new_file(tmp_path):
    path = tmp_path / "file"
    write(path)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_replaces_the_target_of_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target.name)
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_link_to_nothing_gets_a_target(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("target")
    write(link)
    assert (tmp_path / "target").read_bytes() == b"new"


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    write(path)
    assert path.read_bytes() == b"new"


def test_a_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), files.replacing(path) as file:
        file.writelines([b"half of the n", None])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def a_pipe(folder):
    path = folder / "pipe"
    os.mkfifo(path)
    return path


def a_loop(folder):
    path = folder / "loop"
    path.symlink_to(path)
    return path


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda _: Path("/dev/null"), "not a regular file", id="device"),
        pytest.param(lambda folder: folder, "not a regular file", id="directory"),
        pytest.param(a_pipe, "not a regular file", id="pipe"),
        pytest.param(a_loop, "symbolic links", id="loop"),
        pytest.param(lambda folder: folder / ("x" * 256), "File name too long", id="long-name"),
        pytest.param(lambda folder: folder / "no" / "file", "No such file", id="no-directory"),
        pytest.param(lambda folder: folder / "a\0b", "null byte", id="zero-byte"),
    ],
)
def test_what_cannot_be_written(tmp_path, make, why):
    path = make(tmp_path)
    before = path.lstat() if os.path.lexists(str(path).replace("\0", "")) else None
    with pytest.raises(PodiumError, match=f"cannot be written: .*{why}"):
        write(path)
    if before is not None:
        assert path.lstat() == before


def test_a_link_to_a_device_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    with pytest.raises(PodiumError, match="not a regular file"):
        write(link)
    assert link.readlink() == Path("/dev/null")


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_reads_up_to_a_limit(tmp_path, pack):
    path = tmp_path / "file"
    path.write_bytes(pack(b"a\nb\n" * 8))
    assert files.read(path, 32) == b"a\nb\n" * 8
    assert list(files.read_lines(path, 2)) == [b"a\n", b"b\n"] * 8
    with pytest.raises(PodiumError, match="larger than"):
        files.read(path, 31)
    with pytest.raises(PodiumError, match="a line longer than"):
        list(files.read_lines(path, 1))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(gzip.compress(b"x" * 99)[:-9], "cut short", id="cut"),
        pytest.param(b"\x1f\x8bx" + bytes(20), "damaged", id="no-gzip"),
        pytest.param(None, "cannot be read: No such file", id="absent"),
    ],
)
def test_what_cannot_be_read(tmp_path, content, why):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PodiumError, match=why):
        files.read(path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_devices_are_not_read(path):
    with pytest.raises(PodiumError, match="cannot be read: not a file or a pipe"):
        files.read(Path(path))


def test_a_small_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "token"
    path.write_bytes(gzip.compress(b"x"))

    assert files.read_small(path) == path.read_bytes()


def test_what_may_never_end_is_not_read_as_a_small_file(tmp_path, monkeypatch):
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(b"12345")
    monkeypatch.setattr(files, "_SMALL_BYTES", 4)

    for path, why in (
        (pipe, "Not a regular file"),
        ("/dev/zero", "Not a regular file"),
        (tmp_path, "Is a directory"),
        (large, "Larger than"),
        (tmp_path / "none", "No such file"),
    ):
        with pytest.raises(OSError, match=why):
            files.read_small(path)
