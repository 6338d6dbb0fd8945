"""Published tables in small: what becomes of each row, and what is wrong with them."""

import gzip
import json

import msgspec
import pytest

from podium.errors import InvalidTrace, PodiumError
from podium.replay.convert import convert
from podium.replay.lines import Arrival, Departure, NodeChange, NodeRemoval, Nodes
from podium.replay.reader import read

NODES = """sn,cpu_milli,memory_mib,gpu,model
node-1,64000,262144,2,P100
node-2,32000,131072,0,
"""
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    "creation_time,deletion_time,scheduled_time\n"
)
SHARE = "a,6000,12288,1,460,,LS,Running,100,1100,130\n"
WHOLE = "b,8000,1024,2,1000,P100|T4,BE,Succeeded,150,300,150\n"
NEVER = "c,1000,1024,0,0,,BE,Pending,160,170,\n"


@pytest.fixture
def files(tmp_path):
    """Writes files by their names and converts them; returns the trace and the notes."""

    def made(source, **contents):
        paths = []
        for name, content in contents.items():
            path = tmp_path / name
            data = content if isinstance(content, bytes) else content.encode()
            path.write_bytes(data)
            paths.append(path)
        converted = convert(source, paths, tmp_path / "trace.jsonl")
        return read(tmp_path / "trace.jsonl", lambda path: []), converted.notes

    return made


def of(trace, kind):
    return [line for line in trace.lines if isinstance(line, kind)]


def test_alibaba(files):
    trace, notes = files("alibaba-gpu-2023", nodes=NODES, pods=PODS + SHARE + WHOLE + NEVER)

    first, second = of(trace, Nodes)
    assert first.allocatable["alibabacloud.com/gpu-milli"] == 2000
    assert "alibabacloud.com/gpu-milli" not in second.allocatable
    arrivals = {line.name: line for line in of(trace, Arrival)}
    assert {name: (line.time, line.duration) for name, line in arrivals.items()} == {
        "a": (100, 970),  # the nodes are there at 0
        "b": (150, 150),
        "c": (160, None),
    }
    assert [(line.time, line.name) for line in of(trace, Departure)] == [(170, "c")]
    specs = {name: trace.shapes[line.shape].pod["spec"] for name, line in arrivals.items()}
    requests = {
        name: spec["containers"][0]["resources"]["requests"] for name, spec in specs.items()
    }
    assert requests["a"]["alibabacloud.com/gpu-milli"] == 460
    assert requests["b"]["alibabacloud.com/gpu-milli"] == 2000
    assert requests["c"] == {"cpu": "1000m", "memory": "1024Mi"}
    assert '"values": ["P100", "T4"]' in json.dumps(specs["b"]["affinity"])
    assert "affinity" not in specs["a"]
    (note,) = notes
    assert "may not fit on any single GPU: 1" in note


MACHINES = [
    {"time": 0, "machine_id": 1, "type": 1, "capacity": {"cpus": 0.5, "memory": 0.25}},
    {"time": 0, "machine_id": 2, "type": "ADD", "capacity": {"cpus": 1.0, "memory": 1.0}},
    {"time": 5_000_000, "machine_id": 2, "type": 3, "capacity": {"cpus": 0.5, "memory": 1.0}},
    {"time": 9_000_000, "machine_id": 1, "type": 2},
    {"time": 0, "machine_id": 3, "type": 1},
]


def instance(seconds, kind, index=0, *, collection=7, cpus=0.1, **more):
    """BigQuery exports 64-bit integers as strings."""
    return {
        "time": str(round(seconds * 1e6)), "type": str(kind), "collection_id": str(collection),
        "instance_index": str(index), "priority": "200",
        "resource_request": {"cpus": cpus, "memory": 0.01}, **more,
    }  # fmt: skip


def json_lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_google_machines(files):
    trace, notes = files("google-2019", m=json_lines(MACHINES), i=json_lines([instance(1, 0)]))

    assert [(line.name, line.allocatable["cpu"]) for line in of(trace, Nodes)] == [
        ("machine-1", "50000m"),
        ("machine-2", "100000m"),
    ]
    (change,) = of(trace, NodeChange)
    assert (change.time, change.node["status"]["allocatable"]["cpu"]) == (5, "50000m")
    assert [(line.time, line.name) for line in of(trace, NodeRemoval)] == [(9, "machine-1")]
    assert notes == ["events of machines without a capacity left out: 1"]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([(1, 0), (2, 3), (12, 6)], [("instance-7-0", 1, 10)], id="finishes"),
        pytest.param([(1, 0), (2, 3)], [("instance-7-0", 1, None)], id="runs-at-the-end"),
        pytest.param(
            [(1, 0), (1, 1), (4, 2), (5, 3), (6, 5)], [("instance-7-0", 4, 1)], id="batch"
        ),
        pytest.param([(2, 3), (3, 7)], [("instance-7-0", 2, 1)], id="its-submission-is-missing"),
        pytest.param(
            [(1, 0), (2, 3), (5, 4), (6, 0), (7, 3), (9, 6)],
            [("instance-7-0", 1, 3), ("instance-7-0-2", 6, 2)],
            id="evicted-and-submitted-again",
        ),
        pytest.param([(1, "SUBMIT"), (3, "KILL")], [("instance-7-0", 1, None)], id="never-ran"),
    ],
)
def test_google_instances(files, events, expected):
    rows = [instance(seconds, kind) for seconds, kind in events]

    trace, _ = files("google-2019", m=json_lines(MACHINES), i=json_lines(rows))

    arrivals = of(trace, Arrival)
    assert [(line.name, line.time, line.duration) for line in arrivals] == expected
    assert all(line.requests["cpu"] == "10000m" and not line.restarts for line in arrivals)
    assert all(line.priority == 200 for line in arrivals)
    assert len(of(trace, Departure)) == (events[-1][1] == "KILL")


def test_google_collections_and_what_is_left_out(files):
    rows = [
        instance(1, 0),
        instance(1, 0, 1, alloc_collection_id="99"),
        instance(1, 0, 2, constraint=[{"name": "x"}]),
    ]
    collections = [{"time": 0, "type": 0, "collection_id": 7, "max_per_machine": 1}]

    trace, notes = files(
        "google-2019", m=json_lines(MACHINES), i=gzip.compress(json_lines(rows).encode()),
        c=json_lines(collections),
    )  # fmt: skip

    assert [line.name for line in of(trace, Arrival)] == ["instance-7-0", "instance-7-2"]
    assert all("podAntiAffinity" in line.pod["spec"]["affinity"] for line in of(trace, Arrival))
    assert any("inside a reservation" in note for note in notes)
    assert any("machine constraints" in note for note in notes)


def test_google_as_csv(files):
    rows = "time,type,collection_id,instance_index,priority,resource_request.cpus\n0,0,7,3,0,0.5\n"
    machines = "time,type,machine_id,capacity.cpus,capacity.memory\n0,1,4,1,1\n"

    trace, _ = files("google-2019", m=machines, i=rows)

    assert [line.name for line in of(trace, Arrival)] == ["instance-7-3"]


NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: '4'}}}"


def owner(kind, replicas=1, *, image="a", **spec):
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"image": image}]}}
    body = {"replicas": replicas, "template": template, **spec}
    metadata = {"namespace": "ns", "name": "web"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": body}


def simkube(*events, lifecycles=None):
    """As SimKube writes it: msgpack, with pairs as keys."""
    rows = [
        {"ts": ts, "applied_objs": applied, "deleted_objs": deleted}
        for ts, applied, deleted in events
    ]
    return msgspec.msgpack.encode(
        {
            "version": 2,
            "config": {"trackedObjects": {}},
            "events": rows,
            "index": {},
            "pod_lifecycles": lifecycles or {},
        }
    )


def test_simkube_replicas_come_and_go(files):
    data = simkube(
        (100, [owner("Deployment", 2)], []),
        (110, [owner("Deployment", 1)], []),
        (120, [owner("Deployment", 1, image="b")], []),
        (130, [], [owner("Deployment")]),
    )

    trace, notes = files("simkube", t=data, nodes=NODE)

    happened = [(line.time, type(line).__name__, line.name) for line in trace.lines]
    assert happened == [
        (0, "Arrival", "ns/web-0"),
        (0, "Arrival", "ns/web-1"),
        (10, "Departure", "ns/web-1"),
        (20, "Arrival", "ns/web-2"),
        (20, "Departure", "ns/web-0"),
        (30, "Departure", "ns/web-2"),
    ]
    assert notes == ["rollouts replaced all pods of an object at once: 1"]
    assert [obj["kind"] for obj in trace.objects] == ["Node"]


def test_simkube_lifecycles(files):
    cron = {**owner("CronJob"), "apiVersion": "batch/v1"}
    cron["spec"] = {"jobTemplate": {"spec": {"template": cron["spec"]["template"]}}}
    bare = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one"},
        "spec": {"nodeName": "x"},
    }
    lifecycles = {
        ("batch/v1.CronJob", "ns/web"): {1: [{"Finished": [160, 190]}, {"Running": 220}]},
        ("v1.Pod", "default/one"): {5: [{"Finished": [101, 104]}]},
    }

    trace, _ = files("simkube", t=simkube((100, [cron, bare], []), lifecycles=lifecycles), n=NODE)

    assert [(line.time, line.name, line.duration) for line in trace.lines] == [
        (0, "default/one", 3),
        (60, "ns/web-0", 30),
        (120, "ns/web-1", None),
    ]


def test_simkube_leaves_out_what_it_must(files):
    claims = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
    web = owner("StatefulSet")
    web["spec"]["template"]["spec"] |= {**claims, "priorityClassName": "gold"}

    trace, notes = files("simkube", t=simkube((1, [web, owner("DaemonSet")], [])), nodes=NODE)

    assert len(of(trace, Arrival)) == 1
    assert {note.partition(" ")[0] for note in notes} == {"volumes", "priority", "versions"}


@pytest.mark.parametrize(
    ("source", "contents", "expected"),
    [
        pytest.param("alibaba-gpu-2023", {"n": NODES}, "there is no table of pods", id="no-pods"),
        pytest.param("alibaba-gpu-2023", {"n": "x,y\n"}, "its columns are not", id="columns"),
        pytest.param("alibaba-gpu-2023", {"n": ""}, "its columns are not", id="empty"),
        pytest.param("alibaba-gpu-2023", {"n": b"\xff\xfe"}, "not a text in UTF-8", id="binary"),
        pytest.param(
            "alibaba-gpu-2023",
            {"n": NODES, "p": PODS + SHARE.replace("6000", "many")},
            "cpu_milli (line 2): must be a number, not 'many'",
            id="number",
        ),
        pytest.param(
            "alibaba-gpu-2023",
            {"n": NODES, "p": PODS + SHARE + SHARE.replace("6000", "-6")},
            "cpu_milli (line 3): must be 0 or more, not -6",
            id="negative",
        ),
        pytest.param(
            "alibaba-gpu-2023",
            {"n": NODES, "p": PODS + SHARE.replace("1100", "90")},
            "deletion_time (line 2): 90 is before the pod was there",
            id="ends-before-it-begins",
        ),
        pytest.param(
            "alibaba-gpu-2023", {"n": NODES, "p": PODS + "a,6000\n"}, "line 2: has not as", id="cut"
        ),
        pytest.param(
            "google-2019",
            {"m": json_lines(MACHINES), "i": json_lines([instance(1, 77)])},
            "type (line 1): must be a number below 11, not '77'",
            id="type",
        ),
        pytest.param(
            "google-2019",
            {"m": json_lines(MACHINES), "i": json_lines([instance(1, 0)]) + '{"time'},
            "line 2: not a JSON object",
            id="json-cut",
        ),
        pytest.param(
            "google-2019", {"m": gzip.compress(b"x" * 99)[:-9]}, "cut short", id="gzip-cut"
        ),
        pytest.param("simkube", {"t": simkube()}, "give two: a SimKube trace and", id="no-nodes"),
        pytest.param(
            "simkube",
            {"t": simkube()[:20], "n": NODE},
            "not a whole trace of SimKube",
            id="msgpack",
        ),
        pytest.param(
            "simkube", {"t": '{"version": 1, "events": []}', "n": NODE}, "version 1", id="older"
        ),
    ],
)
def test_bad_tables_write_nothing(files, tmp_path, source, contents, expected):
    with pytest.raises(PodiumError) as caught:
        files(source, **contents)

    assert expected in str(caught.value)
    assert not list(tmp_path.glob("trace.jsonl*"))


def test_a_missing_file(tmp_path):
    with pytest.raises(InvalidTrace, match="cannot be read: No such file"):
        convert("google-2019", [tmp_path / "nowhere"], tmp_path / "out")
