"""Fuzzers: whatever bytes a decoder gets, it returns a value or raises the error it is known for.

Each example is a good input with pieces cut out, repeated, exchanged or replaced. `make fuzz`
searches fifty times as long as the default run.
"""

import json
import random

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podium import config
from podium.api.codec import UNREADABLE
from podium.app import in_tree_with_legacy
from podium.client import kubeconfig
from podium.client.answer_parser import AnswerParser, BadAnswer
from podium.client.resources import NODES, PODS
from podium.client.watch_events import EventDecoder, Lines, LineTooLong
from podium.clock import StillClock
from podium.config.tracing import load_tracing
from podium.errors import ConfigError, CredentialsError, ExtenderError, InvalidObject
from podium.extender import replies
from podium.legacy import VERSIONS
from tests.support.search import examples

POD = {
    "metadata": {"name": "web", "namespace": "default", "uid": "u", "resourceVersion": "7"},
    "spec": {
        "schedulerName": "podium",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}}],
        "tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 5}],
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}},
    },
    "status": {"conditions": [{"type": "PodScheduled", "lastProbeTime": None, "status": "True"}]},
}
STREAM = b"\n".join(
    json.dumps({"type": kind, "object": POD}).encode()
    for kind in ("ADDED", "MODIFIED", "BOOKMARK", "DELETED", "ERROR")
)
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 8
leaderElection: {leaderElect: true, leaseDuration: 15s}
profiles:
  - schedulerName: podium
    plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 5}], disabled: [{name: "*"}]}}
    pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
extenders: [{urlPrefix: "http://a", filterVerb: f, weight: 1, httpTimeout: 3s}]
"""
POLICY = """\
{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsPorts"}],
 "priorities": [{"name": "LeastRequestedPriority", "weight": 1}]}
"""
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "it", "cluster": {"server": "https://a:1", "tls-server-name": "b"}}],
    "users": [{"name": "me", "user": {"token": "t", "as": "other", "as-groups": ["g"]}}],
    "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
    "current-context": "it",
}
TRACING = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: a:1\n"
FILTERED = {"NodeNames": ["a"], "Nodes": {"items": [{"metadata": {"name": "a"}}]}, "Error": ""}
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\n12345\r\n3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"
)

EXTRA = [b"", b"\x00", b"\xff\xfe", b"{", b"]", b'"', b"null", b"1e999", b"-1", b"\n", b"&a *a"]
EXTRA += [
    b"99999999999999999999",
    b"'",
    b"[" * 2000,
    b"\r\n\r\n",
    "\u2028é\ud83d".encode(errors="replace"),
]


def mangled(sample):
    """Bytes that are nearly a good input."""

    def change(seed):
        chance, data = random.Random(seed), sample
        for _ in range(chance.randint(1, 6)):
            begin = chance.randrange(len(data) + 1)
            end = min(len(data), begin + chance.choice((0, 1, 2, 10, 100)))
            other = chance.randrange(len(data) + 1)
            piece = chance.choice((*EXTRA, data[begin:end] * 2, data[other : other + 20]))
            data = data[:begin] + piece + data[end:]
        return data

    return st.integers(0, 2**64).map(change)


def told(read, known):
    """What the error says that a decoder is known for, if it raises that; other errors fail."""
    try:
        read()
    except known as error:
        return str(error)
    return ""


@given(data=mangled(STREAM), cut=st.integers(1, 40))
@examples(400)
def test_watch_stream(data, cut):
    decoder, lines = EventDecoder(PODS), Lines()
    try:
        for begin in range(0, len(data), cut):
            for line in lines.feed(data[begin : begin + cut]):
                decoder(line)
    except (LineTooLong, *UNREADABLE):
        return


@pytest.mark.parametrize("resource", [PODS, NODES], ids=lambda each: each.kind)
@given(data=mangled(json.dumps(POD).encode()))
@examples(400)
def test_objects(resource, data):
    told(lambda: resource.decode(data, None), InvalidObject)


@given(data=mangled(ANSWER), cut=st.integers(1, 40))
@examples(400)
def test_answers_of_the_api_server(data, cut):
    parser = AnswerParser()
    try:
        for begin in range(0, len(data), cut):
            if parser.feed(data[begin : begin + cut]) is not None:
                parser = parser.next()
        parser.end()
    except BadAnswer:
        return


REGISTRY = in_tree_with_legacy()


@pytest.mark.parametrize("sample", [CONFIG, POLICY], ids=["v1", "policy"])
@given(data=st.data())
@examples(200)
def test_configurations(sample, data):
    text = data.draw(mangled(sample.encode())).decode(errors="surrogateescape")
    told(lambda: config.load(text, REGISTRY, versions=VERSIONS), ConfigError)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "file"


@given(data=mangled(TRACING.encode()))
@examples(200)
def test_tracing_configurations(file, data):
    file.write_bytes(data)
    why = told(lambda: load_tracing(str(file)), ConfigError)
    assert not why or str(file) in why


@given(data=mangled(yaml.safe_dump(KUBECONFIG).encode()))
@examples(200)
def test_kubeconfigs(file, data):
    file.write_bytes(data)
    why = told(
        lambda: kubeconfig.endpoint_of(kubeconfig.load(file), StillClock()), CredentialsError
    )
    assert not why or str(file) in why


@given(data=mangled(json.dumps(FILTERED).encode()), names_only=st.booleans())
@examples(400)
def test_answers_of_extenders(data, names_only):
    told(lambda: replies.filtered(data, names_only), ExtenderError)
    told(lambda: replies.error(data), ExtenderError)


@given(data=mangled(b'[{"Host": "a", "Score": 10}, {"Host": "b", "Score": 0}]'))
@examples(400)
def test_scores_of_extenders(data):
    try:
        found = replies.scores(data)
    except ExtenderError:
        return
    assert all(isinstance(score, int) for score in found.values())
