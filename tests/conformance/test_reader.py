"""Files of cases: read by content, refused with the file and the line."""

import gzip
import json

import pytest

from podium.conformance import read, select
from podium.conformance.cases import (
    AttemptCase,
    HintCase,
    RegistrationCase,
    SequenceCase,
    UpdateCase,
)
from podium.errors import InvalidRecording
from tests.support.recordings import HINT, PLACED, SEQUENCE, UPDATE

REGISTRATIONS = {
    "plugins": [
        {"plugin": "NodeName", "events": [{"resource": "Node", "actions": ["Add"], "hint": False}]},
        {"plugin": "NodePorts", "events": []},
    ]
}


def lines(*cases):
    return "".join(json.dumps(case) + "\n" for case in cases).encode()


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="cases"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_file


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_kinds_are_told_by_content(write, packed):
    content = lines(PLACED, SEQUENCE, HINT, UPDATE)
    path = write(gzip.compress(content) if packed else content, "whatever.bin")

    kinds = [type(case) for case in read([path])]

    assert kinds == [AttemptCase, SequenceCase, HintCase, UpdateCase]


def test_cases_know_where_they_stand(write):
    path = write(b"\n" + lines(PLACED) + b"\n" + lines(HINT))

    assert [case.source for case in read([path])] == [f"{path}:2", f"{path}:4"]


def test_a_folder_stands_for_the_recordings_in_it(write, tmp_path):
    write(lines(HINT), "b.jsonl")
    write(gzip.compress(lines(PLACED)), "a.jsonl.gz")
    write(json.dumps(REGISTRATIONS).encode(), "c.json")
    write(b"no recording", "README.md")

    assert [type(case) for case in read([tmp_path])][:2] == [AttemptCase, HintCase]
    assert {case.family for case in read([tmp_path])} >= {"registered-events"}


def test_a_folder_without_recordings(write, tmp_path):
    write(b"no recording", "README.md")

    with pytest.raises(InvalidRecording, match=r"the folder has no file that ends with \.jsonl"):
        read([tmp_path])


def test_registrations_are_one_object(write):
    path = write(json.dumps(REGISTRATIONS, indent=1).encode())

    cases = read([path])

    assert {type(case) for case in cases} == {RegistrationCase}
    assert [case.name for case in cases] == [
        "registered-events/NodeName",
        "registered-events/NodePorts",
    ]


WRONG_TYPE = {**PLACED, "name": 7}
UNKNOWN_FIELD = {**PLACED, "expect": {**PLACED["expect"], "mood": "good"}}
NO_OUTCOME = {"name": "a/b", "cluster": {}, "pod": {}, "expectAnyOf": []}
PACKED = gzip.compress(lines(PLACED))
BAD_EVENTS = {"plugins": [{"plugin": "NodeName"}]}


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        pytest.param(b"", "", "the file is empty", id="empty"),
        pytest.param(b"\n \n", "", "the file is empty", id="blank"),
        pytest.param(lines(PLACED)[:-40], ":1", "not valid JSON", id="truncated"),
        pytest.param(lines(PLACED, HINT)[:-9], ":2", "not valid JSON", id="truncated-later"),
        pytest.param(b"\xff\xfe{}", ":1", "not valid JSON", id="not-text"),
        pytest.param(b"name,pod\n", ":1", "not valid JSON", id="not-json"),
        pytest.param(b"[1]\n", ":1", "a line is not an object", id="a-list"),
        pytest.param(b"{}\n", ":1", "no keys", id="no-keys"),
        pytest.param(b'{"name": "x", "pod": {}}\n', ":1", "name, pod", id="no-kind"),
        pytest.param(lines(WRONG_TYPE), ":1", "Expected `str`", id="wrong-type"),
        pytest.param(lines(NO_OUTCOME), ":1", "lists no outcome", id="no-outcome"),
        pytest.param(lines(UNKNOWN_FIELD), ":1", "`mood`", id="unknown-field"),
        pytest.param(json.dumps(BAD_EVENTS).encode(), "", "`events`", id="bad-registration"),
        pytest.param(PACKED[:-9], "", "cut short", id="cut-gzip"),
        pytest.param(PACKED[:-8] + bytes(8), "", "not readable as gzip", id="bad-gzip"),
    ],
)
def test_unusable_files_are_named(write, content, line, reason):
    path = write(content)

    with pytest.raises(InvalidRecording) as refused:
        read([path])

    assert str(refused.value).startswith(f"{path}{line}: ")
    assert reason in refused.value.reason


def test_missing_file(tmp_path):
    with pytest.raises(InvalidRecording, match="cannot be read: No such file"):
        read([tmp_path / "nothing.jsonl"])


@pytest.mark.parametrize(
    ("families", "names", "expected"),
    [
        ([], [], ["attempts/placed-0", "sequences/fills-up-0", "hints/taint-0"]),
        (["hints"], [], ["hints/taint-0"]),
        (["hints", "attempts"], [], ["attempts/placed-0", "hints/taint-0"]),
        ([], ["*-0"], ["attempts/placed-0", "sequences/fills-up-0", "hints/taint-0"]),
        ([], ["*/placed-*"], ["attempts/placed-0"]),
        (["hints"], ["*/placed-*"], []),
        (["hint"], [], []),
    ],
)
def test_selection(write, families, names, expected):
    cases = read([write(lines(PLACED, SEQUENCE, HINT))])

    assert [case.name for case in select(cases, families, names)] == expected
