"""What goes over the wire to an extender in another process, and what is made of its answers."""

import json

import pytest

from podium import config
from podium import framework as fwk
from podium.api.objects import Node, Pod, decode
from podium.errors import ExtenderError
from podium.framework.preemption import Candidate
from podium.state.cluster import ClusterState
from podium.state.rows import Rows
from podium.testing.builders import node, pod
from tests.support.extender_process import ask

pytestmark = pytest.mark.slow

WEB = pod("web")
NAMES = ["a", "b", "c"]


def some_nodes():
    return Rows.of(*map(node, NAMES))


# --- requests ------------------------------------------------------------------------------------

RAW_POD = {
    "metadata": {"name": "web", "namespace": "default", "uid": "u1", "labels": {"app": "ü"}},
    "spec": {"containers": [{"name": "c", "command": ["sleep", "1"]}], "hostname": "h"},
    "status": {"podIPs": [{"ip": "10.0.0.1"}]},
}
RAW_NODE = {
    "metadata": {"name": "a", "uid": "u2"},
    "spec": {"providerID": "x://1"},
    "status": {"nodeInfo": {"kernelVersion": "6"}, "allocatable": {"cpu": "4"}},
}


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_whole_objects_are_sent(server, verb):
    told = server.told(**{verb: {"reply": None}})
    extender = told.extender(**{f"{verb}_verb": verb})
    nodes = Rows.of(decode(Node, RAW_NODE, keep_raw=True))

    ask(extender, verb, decode(Pod, RAW_POD, keep_raw=True), nodes)

    (call,) = told.calls()
    assert (call["verb"], call["type"]) == (verb, "application/json")
    assert json.loads(call["body"]) == {
        "Pod": RAW_POD,
        "Nodes": {"metadata": {}, "items": [RAW_NODE]},
        "NodeNames": None,
    }


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_an_extender_that_knows_the_nodes_gets_names(server, verb):
    told = server.told(**{verb: {"reply": None}})
    extender = told.extender(**{f"{verb}_verb": verb}, node_cache_capable=True)

    ask(extender, verb, decode(Pod, RAW_POD, keep_raw=True), some_nodes())

    assert told.body() == {"Pod": RAW_POD, "Nodes": None, "NodeNames": NAMES}


def test_objects_without_their_json_are_sent_as_far_as_they_are_known(server):
    told = server.told(filter={"reply": None})

    ask(told.extender(filter_verb="filter"), "filter", WEB, Rows.of(node("a", labels="zone=x")))

    body = told.body()
    assert body["Pod"]["metadata"]["name"] == "web"
    assert body["Nodes"]["items"][0]["metadata"] == {
        "name": "a",
        "uid": "uid-a",
        "labels": {"zone": "x"},
    }


def with_victims():
    """A cluster with a pod that is bound and one that is assumed, both on node a."""
    cluster = ClusterState()
    cluster.set_node(node("a"))
    cluster.set_node(node("b"))
    bound = decode(Pod, RAW_POD | {"spec": {"nodeName": "a", "hostname": "h"}}, keep_raw=True)
    cluster.add_pod(bound)
    assumed = fwk.QueuedPod.of(pod("assumed"))
    cluster.assume(assumed.info, cluster.table.live_row("a"))
    return cluster, [Candidate("a", (cluster.pods["u1"], assumed.info), 2)]


def test_victims_are_sent_whole(server):
    told = server.told(preempt={"reply": None})
    cluster, candidates = with_victims()

    extender = told.extender(preempt_verb="preempt")
    assert ask(extender, "process_preemption", WEB, candidates, cluster) == []

    body = told.body()
    assert body.keys() == {"Pod", "NodeNameToVictims", "NodeNameToMetaVictims"}
    assert body["NodeNameToMetaVictims"] is None
    victims = body["NodeNameToVictims"]["a"]
    assert victims["NumPDBViolations"] == 2
    assert victims["Pods"][0] == RAW_POD | {"spec": {"nodeName": "a", "hostname": "h"}}
    assert victims["Pods"][1]["metadata"]["name"] == "assumed"
    assert victims["Pods"][1]["spec"]["nodeName"] == "a"


def test_an_extender_that_knows_the_pods_gets_uids(server):
    told = server.told(preempt={"reply": None})
    cluster, candidates = with_victims()

    extender = told.extender(preempt_verb="preempt", node_cache_capable=True)
    ask(extender, "process_preemption", WEB, candidates, cluster)

    body = told.body()
    assert body["NodeNameToVictims"] is None
    assert body["NodeNameToMetaVictims"] == {
        "a": {"Pods": [{"UID": "u1"}, {"UID": "uid-assumed"}], "NumPDBViolations": 2}
    }


def test_a_binding_names_pod_and_node(server):
    told = server.told(bind={"reply": {"Error": ""}})

    ask(told.extender(bind_verb="bind"), "bind", WEB, "a")

    assert told.body() == {
        "PodName": "web",
        "PodNamespace": "default",
        "PodUID": "uid-web",
        "Node": "a",
    }


@pytest.mark.parametrize("slashes", ["", "/", "//"])
def test_the_verb_follows_the_prefix(server, slashes):
    told = server.told(**{"a/b": {"reply": {}}})
    told.who += slashes

    ask(told.extender(bind_verb="a/b"), "bind", WEB, "a")

    told.who = told.who.rstrip("/")
    assert [call["verb"] for call in told.calls()] == ["a/b"]


def test_redirects_are_followed(server):
    there = server.told(bind={"reply": {}})
    here = server.told(bind={"redirect": f"/{there.who}/bind"})

    ask(here.extender(bind_verb="bind"), "bind", WEB, "a")

    assert there.body() == here.body()


# --- answers to filter ---------------------------------------------------------------------------

WHOLE = {"metadata": {}, "items": [{"metadata": {"name": "b"}, "spec": {}}]}


@pytest.mark.parametrize(
    ("names_only", "reply", "expected"),
    [
        pytest.param(False, {"Nodes": WHOLE}, fwk.Filtered(["b"]), id="nodes"),
        pytest.param(True, {"NodeNames": ["a", "b"]}, fwk.Filtered(["a", "b"]), id="names"),
        pytest.param(True, {"NodeNames": []}, fwk.Filtered([]), id="no-names"),
        pytest.param(True, {"Nodes": WHOLE}, fwk.Filtered(["b"]), id="nodes-in-place-of-names"),
        pytest.param(
            True, {"Nodes": WHOLE, "NodeNames": ["c"]}, fwk.Filtered(["c"]), id="names-win"
        ),
        pytest.param(False, {"NodeNames": ["b"]}, fwk.Filtered([]), id="names-unasked-for"),
        pytest.param(False, {}, fwk.Filtered([]), id="nothing"),
        pytest.param(False, None, fwk.Filtered([]), id="null"),
        pytest.param(
            False, {"Nodes": {"items": None}, "Error": None}, fwk.Filtered([]), id="nulls"
        ),
        pytest.param(
            True,
            {
                "nodenames": ["b"],
                "failednodes": {"a": "x"},
                "failedANDunresolvablenodes": {"c": "y"},
            },
            fwk.Filtered(["b"], {"a": "x"}, {"c": "y"}),
            id="keys-in-any-case",
        ),
        pytest.param(True, {"NodeNames": ["z"], "New": 1}, fwk.Filtered(["z"]), id="as-it-says"),
    ],
)
def test_filter(server, names_only, reply, expected):
    told = server.told(filter={"reply": reply})
    extender = told.extender(filter_verb="filter", node_cache_capable=names_only)

    assert ask(extender, "filter", WEB, some_nodes()) == expected


@pytest.mark.parametrize("names_only", [False, True])
def test_an_honest_filter(server, names_only):
    told = server.told(filter={"keep": ["c", "a"]})
    extender = told.extender(filter_verb="filter", node_cache_capable=names_only)

    assert ask(extender, "filter", WEB, some_nodes()) == fwk.Filtered(["a", "c"])


def test_an_error_of_the_filter_is_raised_as_it_stands(server):
    told = server.told(filter={"reply": {"Error": "no idea", "NodeNames": ["a"]}})

    with pytest.raises(ExtenderError, match=r"^no idea$"):
        ask(told.extender(filter_verb="filter"), "filter", WEB, some_nodes())


# --- answers to prioritize -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(
            [{"Host": "a", "Score": 7}, {"Host": "b", "Score": 0}], {"a": 7, "b": 0}, id="scores"
        ),
        pytest.param([{"host": "a", "SCORE": 7}], {"a": 7}, id="keys-in-any-case"),
        pytest.param([{"Host": "a", "Score": 7}, {"Host": "a", "Score": 2}], {"a": 9}, id="twice"),
        pytest.param(
            [{"Host": "a", "Score": -5}, {"Host": "z", "Score": 99}],
            {"a": -5, "z": 99},
            id="out-of-range",
        ),
        pytest.param(
            [{"Host": "a"}, {"Host": "b", "Score": None}], {"a": 0, "b": 0}, id="no-score"
        ),
        pytest.param([], {}, id="nothing"),
        pytest.param(None, {}, id="null"),
    ],
)
def test_prioritize(server, reply, expected):
    told = server.told(prioritize={"reply": reply})
    extender = told.extender(prioritize_verb="prioritize", weight=1)

    assert ask(extender, "prioritize", WEB, some_nodes()) == expected


def test_without_the_verb_every_node_gets_nothing_and_nobody_is_asked(server):
    told = server.told()

    assert ask(told.extender(), "prioritize", WEB, some_nodes()) == dict.fromkeys(NAMES, 0)
    assert told.calls() == []


# --- answers to preempt --------------------------------------------------------------------------


def victims(*uids, violations=0):
    return {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": violations}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param({"a": victims("u1")}, [("a", ["u1"], 0)], id="fewer"),
        pytest.param(
            {"a": victims("uid-assumed", "u1", violations=1)},
            [("a", ["uid-assumed", "u1"], 1)],
            id="in-their-order",
        ),
        pytest.param({"b": victims()}, [("b", [], 0)], id="no-victims"),
        pytest.param({"a": {"pods": [{"uid": "u1"}]}}, [("a", ["u1"], 0)], id="keys-in-any-case"),
        pytest.param({"a": {"Pods": None}, "b": None}, [("a", [], 0), ("b", [], 0)], id="nulls"),
        pytest.param({}, [], id="no-nodes"),
    ],
)
def test_preempt(server, reply, expected):
    told = server.told(preempt={"reply": {"NodeNameToMetaVictims": reply}})
    cluster, candidates = with_victims()

    extender = told.extender(preempt_verb="preempt")
    left = ask(extender, "process_preemption", WEB, candidates, cluster)

    assert [(c.node, [info.uid for info in c.victims], c.violations) for c in left] == expected


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param({"z": victims("u1")}, 'nodeinfo not found for node name "z"', id="node"),
        pytest.param(
            {"b": victims("u1")},
            "extender: {url} claims to preempt pod (UID: &{{u1}}) on node: b, but the pod is not "
            "found on that node",
            id="pod",
        ),
    ],
)
def test_a_preemption_of_what_is_not_there(server, reply, message):
    told = server.told(preempt={"reply": {"NodeNameToMetaVictims": reply}})
    cluster, candidates = with_victims()

    with pytest.raises(ExtenderError) as error:
        ask(told.extender(preempt_verb="preempt"), "process_preemption", WEB, candidates, cluster)

    assert str(error.value) == message.format(url=told.url)


# --- answers to bind -----------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [{"Error": ""}, {}, None, {"error": None}])
def test_a_pod_is_bound(server, reply):
    told = server.told(bind={"reply": reply})

    ask(told.extender(bind_verb="bind"), "bind", WEB, "a")

    assert len(told.calls()) == 1


def test_a_binding_that_fails(server):
    told = server.told(bind={"reply": {"error": "taken"}})

    with pytest.raises(ExtenderError, match=r"^taken$"):
        ask(told.extender(bind_verb="bind"), "bind", WEB, "a")


# --- what the configuration says -----------------------------------------------------------------


def asking_for(where, kind):
    container = {"name": "c", "resources": {kind: {"example.com/gpu": "1"}}}
    return decode(Pod, {"spec": {where: [container]}})


@pytest.mark.parametrize(
    ("managed", "subject", "interested"),
    [
        pytest.param([], pod(cpu="1"), True, id="manages-nothing"),
        pytest.param(["example.com/gpu"], pod(cpu="1"), False, id="other-resources"),
        pytest.param(
            ["x.com/y", "example.com/gpu"], asking_for("containers", "requests"), True, id="request"
        ),
        pytest.param(["example.com/gpu"], asking_for("containers", "limits"), True, id="limit"),
        pytest.param(["example.com/gpu"], asking_for("initContainers", "limits"), True, id="init"),
        pytest.param(
            ["example.com/gpu"], asking_for("ephemeralContainers", "limits"), False, id="ephemeral"
        ),
        pytest.param(["x.com/y"], asking_for("containers", "requests"), False, id="not-managed"),
    ],
)
def test_interest(server, managed, subject, interested):
    resources = tuple(map(config.ManagedResource, managed))

    assert server.told().extender(managed_resources=resources).is_interested(subject) is interested


def test_what_an_extender_does_is_what_it_has_verbs_for(server):
    def flags(extender):
        return (
            extender.is_filter,
            extender.is_prioritizer,
            extender.supports_preemption,
            extender.is_binder,
        )

    told = server.told()
    verbs = ("filter_verb", "prioritize_verb", "preempt_verb", "bind_verb")
    for place, verb in enumerate(verbs):
        assert flags(told.extender(**{verb: "x"})) == tuple(n == place for n in range(4))
    extender = told.extender(ignorable=True, weight=7)
    assert (extender.name, extender.is_ignorable, extender.weight) == (told.url, True, 7)
