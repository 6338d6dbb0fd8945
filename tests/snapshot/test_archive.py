"""podium's own format: what was written is read again, and damage is recognized."""

import gzip
import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import snapshot
from podium.errors import InvalidSnapshot, PodiumError
from podium.snapshot import KindName, Missing, Snapshot
from tests.support.search import examples

POD = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"}}'
NODE = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}'
SNAPSHOT = Snapshot(
    {KindName("v1", "Node"): (NODE,), KindName("v1", "Pod"): (POD, POD)},
    source="https://example.com:6443",
    taken_at="2026-01-02T03:04:05Z",
    server_version="v1.36.4",
    resource_version="4711",
    configuration={"kind": "KubeSchedulerConfiguration"},
    missing=(Missing("Service", "forbidden", "default spreading may differ"),),
    notes=("a note",),
)


def lines(path):
    return gzip.decompress(path.read_bytes()).split(b"\n")


def rewrite(path, changed):
    path.write_bytes(gzip.compress(b"\n".join(changed)))


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "cluster.podium"
    snapshot.write(SNAPSHOT, found)
    return found


def test_round_trip(path):
    assert snapshot.load(path) == SNAPSHOT
    assert str(snapshot.load(path).release) == "1.36"


def test_only_the_user_may_read_it(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_equal_snapshots_are_equal_files(path, tmp_path):
    other = tmp_path / "other"
    snapshot.write(SNAPSHOT, other)
    assert other.read_bytes() == path.read_bytes()


@given(data=st.data())
@examples(60)
def test_every_cut_is_recognized(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "cluster.podium"
    size = snapshot.write(SNAPSHOT, path)
    whole = path.read_bytes()
    assert size == len(whole)
    path.write_bytes(whole[: data.draw(st.integers(2, len(whole) - 1))])
    for read in (snapshot.load, read_unchecked):
        with pytest.raises(InvalidSnapshot, match=r"cut short|damaged"):
            read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            lambda all: [*all[:2], all[2][:-5]],
            "cut short in line 3: save or copy it again",
            id="in-a-line",
        ),
        pytest.param(lambda all: all[:-2], "cut short after 3 objects", id="no-end"),
        pytest.param(lambda all: [*all[:2], *all[3:]], "cut short after 2", id="one-line-less"),
        pytest.param(lambda all: [*all[:-1], POD], "nothing may follow the end", id="after-end"),
        pytest.param(
            lambda all: [all[0].replace(b"podium.dev/v1", b"podium.dev/v2"), *all[1:]],
            "a Snapshot of version podium.dev/v2, but this podium reads podium.dev/v1: update",
            id="newer",
        ),
        pytest.param(
            lambda all: [b'{ "kind": "Snapshot", "apiVersion" : "podium.dev/v2" }', *all[1:]],
            "a Snapshot of version podium.dev/v2, but this podium reads podium.dev/v1: update",
            id="newer-with-other-blanks",
        ),
        pytest.param(
            lambda all: [b'{"kind": "Snapshot",', b'"apiVersion": "podium.dev/v2"}'],
            "a Snapshot of version podium.dev/v2, but this podium reads podium.dev/v1: update",
            id="newer-on-two-lines",
        ),
        pytest.param(
            lambda all: [json.dumps(json.loads(all[0]), indent=1).encode(), *all[1:]],
            "a snapshot in another layout: write one object per line",
            id="header-on-many-lines",
        ),
        pytest.param(
            lambda all: [all[0].replace(b'"Snapshot"', b'"Album"'), *all[1:]],
            "podium.dev/v1, kind 'Album': not a snapshot",
            id="other-kind",
        ),
        pytest.param(
            lambda all: [b'{"apiVersion":"podium.dev/v1"', *all[1:]],
            "line 1 is not a header",
            id="bad-header",
        ),
        pytest.param(
            lambda all: [all[0].replace(b"2026-01-02", b"yesterday"), *all[1:]],
            "line 1 is not a header of a snapshot: 'yesterday",
            id="bad-time",
        ),
        pytest.param(
            lambda all: [all[0], b"[]", *all[2:]], "line 2 is not an API object", id="bad-object"
        ),
        pytest.param(
            lambda all: [all[0], b'{"kind":"Pod"}', *all[2:]],
            "line 2 is not an API object: apiVersion, kind or metadata.name is missing",
            id="no-metadata",
        ),
        pytest.param(
            lambda all: [all[0], all[1].replace(b'"n"', b'""'), *all[2:]],
            "line 2 is not an API object: apiVersion, kind or metadata.name is missing",
            id="empty-name",
        ),
        pytest.param(
            lambda all: [all[0], b'{"a":' * 100_000, *all[2:]],
            "line 2 is not an API object",
            id="nested-too-deeply",
        ),
    ],
)
def test_damaged_files(path, change, message):
    rewrite(path, change(lines(path)))
    for read in (snapshot.load, read_unchecked):
        with pytest.raises(InvalidSnapshot, match=message):
            read(path)


def read_unchecked(path):
    """Read the objects as those do who decode each of them."""
    with snapshot.streamed(path, is_checked=False) as stream:
        for _, raw in stream.objects:
            try:
                assert json.loads(raw)["metadata"]["name"]
            except (ValueError, RecursionError, AssertionError):
                stream.check()
                raise


def test_unchecked_objects_have_the_same_kinds(path):
    replicas = b'{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"}}'
    spaced = b'{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "spaced"}}'
    first, *_, end = lines(path)[:-1]
    others = [NODE, POD, POD, replicas, replicas, POD, spaced, NODE, spaced]
    rewrite(path, [first, *others, end.replace(b"3", b"9"), b""])
    with snapshot.streamed(path, is_checked=False) as stream:
        unchecked = list(stream.objects)
    with snapshot.streamed(path) as stream:
        assert list(stream.objects) == unchecked

    assert [raw for _, raw in unchecked] == others
    assert [name.kind for name, _ in unchecked[3:8]] == [
        "ReplicaSet",
        "ReplicaSet",
        "Pod",
        "Node",
        "Node",
    ]


def test_the_header_may_be_spaced_otherwise(path):
    first, *rest = lines(path)
    spaced = json.dumps(json.loads(first), indent=None, separators=(" , ", " : "), sort_keys=True)
    rewrite(path, [spaced.encode(), *rest])
    assert snapshot.load(path) == SNAPSHOT


def test_a_failed_write_keeps_the_old_file(path, tmp_path):
    before = path.read_bytes()
    broken = Snapshot({KindName("v1", "Pod"): (b"", None)})
    with pytest.raises(TypeError):
        snapshot.write(broken, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_directory_that_does_not_exist(tmp_path):
    with pytest.raises(PodiumError, match="cannot be written: No such file"):
        snapshot.write(SNAPSHOT, tmp_path / "nowhere" / "file")
