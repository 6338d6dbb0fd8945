"""Reading traces: what is wrong is reported with its line, all at once."""

import gzip

import pytest

from podium.errors import InvalidTrace, PodiumError
from podium.replay.lines import Arrival, Departure, NodeRemoval, Nodes
from podium.replay.reader import MOST_PROBLEMS, read
from tests.support.replay import END, HEADER, arrive, depart, nodes, remove_node, text


def no_files(path):
    raise PodiumError(f"there is no {path.name}")


def written(tmp_path, content):
    path = tmp_path / "trace.jsonl"
    path.write_text(content)
    return path


def problems(path):
    with pytest.raises(InvalidTrace) as caught:
        read(path, no_files)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_lines_in_order(tmp_path):
    lines = [nodes(count=2), arrive("a", 1, cpu="1"), depart("a", 2.5), remove_node("n-1", 2.5)]

    trace = read(written(tmp_path, text(HEADER, *lines, {**END, "time": 9})), no_files)

    assert [type(line) for line in trace.lines] == [Nodes, Arrival, Departure, NodeRemoval]
    assert [line.time for line in trace.lines] == [0, 1, 2.5, 2.5]
    assert (trace.name, trace.end, trace.arrivals) == ("trace.jsonl", 9, 1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([arrive("a", 5), arrive("b", 4)], "time goes back from 5 to 4", id="unsorted"),
        pytest.param([arrive("a", -1)], "time must be from 0 to", id="before-the-start"),
        pytest.param([arrive("a", 1e15)], "ten years, not 1e+15", id="in-a-million-years"),
        pytest.param([arrive("a", 0, duration=1e308)], "ten years, not 1e+308", id="for-ever"),
        pytest.param([arrive("a", 0, duration=-2)], "duration must be from 0 to", id="duration"),
        pytest.param([arrive("a"), arrive("a")], "(the first is in line 3)", id="two-pods"),
        pytest.param([arrive("a"), arrive("default/a")], "a second pod", id="the-same-namespace"),
        pytest.param([arrive("")], "name must be NAME or NAMESPACE/NAME", id="no-name"),
        pytest.param([arrive("a/b/c")], "name must be NAME or NAMESPACE/NAME", id="slashes"),
        pytest.param([nodes()], 'a second node "n" (the first is in line 2)', id="two-nodes"),
        pytest.param([nodes("n", count=0)], "count must be from 1", id="no-nodes-in-a-line"),
        pytest.param([depart("a", 1)], 'no pod "a" has arrived before', id="unknown-departure"),
        pytest.param(
            [arrive("web-1"), depart("web-l", 1)],
            'no pod "web-l" has arrived before; did you mean "default/web-1"?',
            id="misspelled-departure",
        ),
        pytest.param(
            [arrive("a"), depart("a", 1), depart("a", 2)], "has departed before", id="departs-twice"
        ),
        pytest.param([remove_node("m", 1)], 'no node "m" is there', id="unknown-node"),
        pytest.param([arrive("a", cpus=3)], 'unknown field "cpus"', id="unknown-field"),
        pytest.param([arrive("a", durations=3)], 'did you mean "duration"?', id="misspelled-field"),
        pytest.param([{"event": "arrives"}], 'did you mean "arrive"?', id="misspelled-event"),
        pytest.param([{"time": 1}], "the field event is missing", id="no-event"),
        pytest.param([arrive("a", "soon")], "time: Expected `float`, got `str`", id="type"),
        pytest.param([[1]], "must be a JSON object, not [1]", id="no-object"),
        pytest.param([arrive("a", shape="big")], 'no shape "big" comes before', id="no-shape"),
        pytest.param(
            [{"event": "shape", "name": "s"}, arrive("a", shape="s", cpu="1")],
            "give a shape, or a pod, or requests",
            id="a-shape-and-requests",
        ),
        pytest.param([arrive("a", cpu="1Kb")], "quantities must match", id="quantity"),
        pytest.param([arrive("a", cpu="-1")], "must not be negative", id="negative"),
        pytest.param([nodes("m", cpu="many")], "quantities must match", id="quantity-of-a-node"),
        pytest.param(
            [arrive("a", pod={"spec": {"priorityClassName": "gold"}})],
            'no PriorityClass "gold" is among the objects',
            id="unknown-class",
        ),
        pytest.param([arrive("a", pod={"spec": 3})], "spec", id="not-a-pod"),
        pytest.param(
            [arrive("a", pod={"spec": {"nodeName": "n"}})], "arrive without a node", id="has-a-node"
        ),
        pytest.param([HEADER], "a second line with the event trace", id="two-headers"),
        pytest.param([{"event": "objects", "file": "x"}], "x: there is no x", id="no-such-file"),
        pytest.param(
            [{"event": "node", "node": {"metadata": {}}}], "metadata.name", id="node-without-a-name"
        ),
    ],
)
def test_what_is_wrong_has_its_line(tmp_path, lines, expected):
    path = written(tmp_path, text(HEADER, nodes(), *lines, END))

    ((line, message),) = problems(path)

    assert expected in message
    assert line == 2 + len(lines)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("", (None, "the file is empty"), id="empty"),
        pytest.param("\n\n", (2, "no line has the event end"), id="blank"),
        pytest.param(text(nodes(), END), (1, "the first line must be"), id="no-header"),
        pytest.param(
            text({**HEADER, "version": 2}, nodes(), END), (1, "version 2 of the format"), id="newer"
        ),
        pytest.param(
            text(HEADER, nodes()) + '{"event": "arr',
            (3, "the file was cut short in this line"),
            id="cut-in-a-line",
        ),
        pytest.param(text(HEADER, nodes()), (2, "the file was cut short, or add"), id="no-end"),
        pytest.param(text(HEADER, END), (None, "the trace has no nodes"), id="no-nodes"),
        pytest.param(text(HEADER, nodes(), END, END), (4, "comes after"), id="goes-on"),
        pytest.param("\x00\x01", (1, "the file was cut short"), id="binary"),
        pytest.param(text(HEADER) + "[" * 100_000 + "\n", (2, "cannot be read"), id="deep"),
        pytest.param(
            text(HEADER) + '{"event": "end", "time": 1e999}\n', (2, "out of range"), id="too-large"
        ),
        pytest.param("hello\n", (1, "not a JSON object"), id="text"),
    ],
)
def test_a_whole_file_that_is_wrong(tmp_path, content, expected):
    line, message = problems(written(tmp_path, content))[0]

    assert line == expected[0]
    assert expected[1] in message


def test_all_problems_at_once_up_to_a_limit(tmp_path):
    bad = [arrive(f"p{number}", 0, duration=-1) for number in range(100)]

    found = problems(written(tmp_path, text(HEADER, nodes(), *bad, END)))

    assert len(found) == MOST_PROBLEMS
    assert [line for line, _ in found] == list(range(3, 3 + MOST_PROBLEMS))


def test_compressed(tmp_path):
    path = tmp_path / "trace.jsonl.gz"
    data = gzip.compress(text(HEADER, nodes(), arrive("a"), END).encode())
    path.write_bytes(data)

    assert read(path, no_files).arrivals == 1

    path.write_bytes(data[:-20])
    assert "cut short" in problems(path)[-1][1]


def test_no_file(tmp_path):
    with pytest.raises(InvalidTrace, match="cannot be read: No such file"):
        read(tmp_path / "nowhere", no_files)


def test_a_file_of_objects_is_found_beside_the_trace(tmp_path):
    node = {"kind": "Node", "metadata": {"name": "m"}, "status": {"allocatable": {"cpu": "1"}}}
    content = text(HEADER, {"event": "objects", "file": "cluster.yaml"}, remove_node("m", 3), END)
    asked = []

    trace = read(written(tmp_path, content), lambda path: asked.append(path) or [node])

    assert asked == [tmp_path / "cluster.yaml"]
    assert trace.objects == [node]
