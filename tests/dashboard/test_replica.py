"""The process that answers gets every change, and answers as the commands do."""

import json

import msgspec
import pytest

from podium import config
from podium.api.objects import Namespace, Node, Pod
from podium.config.explicit import explicit
from podium.dashboard.mirror import RESOURCES, Decider, Mirror
from podium.dashboard.questions import ANSWERS, MOST_RESCHEDULED, what_if
from podium.dashboard.replica import Replica, Unanswerable
from podium.errors import PodiumError
from podium.serve.operations import Unknown
from podium.simulation import Simulation
from podium.simulation.building import gates_of, registry_of
from podium.simulation.formats import report_json
from podium.simulation.scenario import DrainNodes, run
from podium.testing.builders import node, pod
from tests.support import dumps
from tests.support.groups import group, member

GROUP = "scheduling.k8s.io/PodGroup"
GATES = gates_of("1.37")
DECIDER = Decider(explicit(config.default(registry_of(GATES, ()), gates=GATES)), "1.37")


def seen(nodes, pods):
    return {"Node": nodes, "Pod": pods, "Namespace": []}


def cluster(*pods):
    return seen([node(f"n{number}", cpu="4") for number in range(3)], list(pods))


def replica(objects, mirror=None, made=None):
    """What the other process has after a question about these objects."""
    made = made or Replica(DECIDER)
    made.apply((mirror or Mirror()).changes(objects))
    return made


def test_only_what_has_changed_is_sent():
    mirror, first = Mirror(), pod("a")
    objects = cluster(first, pod("b"))
    assert len(mirror.changes(objects).put["Pod"]) == 2

    moved = pod("a", node_name="n0")
    later = {**objects, "Pod": [moved, *objects["Pod"][1:]]}
    changes = mirror.changes(later)
    assert [json.loads(each)["metadata"]["name"] for each in changes.put["Pod"]] == ["a"]
    assert "Node" not in changes.put

    gone = mirror.changes({**objects, "Pod": [moved]})
    assert gone == ({}, [("Pod", "default/b")])
    assert mirror.changes({**objects, "Pod": [moved]}) == ({}, [])


def test_objects_survive_the_way_to_the_other_process():
    """Every kind that is watched can be encoded, and decodes to the same."""
    for kind, resource in RESOURCES.items():
        struct = resource.struct
        made = struct(metadata=msgspec.structs.replace(struct().metadata, name="x", uid="u"))
        changes = Mirror().changes({kind: [made]})
        assert resource.decode(changes.put[kind][0], None) == made


def test_a_replica_follows_the_cluster():
    mirror, made = Mirror(), None
    objects = cluster(pod("a", cpu="1"), pod("big", cpu="9"))
    made = replica(objects, mirror)
    assert len(made.simulation().pending) == 2

    objects["Pod"] = [pod("a", cpu="1", node_name="n1"), pod("late", cpu="1")]
    objects["Node"] = [*objects["Node"][:2], node("n9", cpu="16")]
    replica(objects, mirror, made)

    fresh = replica(objects)
    assert set(made.simulation().nodes) == {"n0", "n1", "n9"}
    assert set(made.simulation().pending) == {"default/late"}
    assert made.simulation().pods["default/a"].node_name == "n1"
    for key in ("default/a", "default/late"):
        assert ANSWERS["pod"](made, key, ()) == ANSWERS["pod"](fresh, key, ())


def test_a_pod_that_is_created_again_under_its_name():
    mirror = Mirror()
    objects = cluster(pod("a", cpu="1", node_name="n0", uid="first"))
    made = replica(objects, mirror)
    made.simulation()

    objects["Pod"] = [pod("a", cpu="9", uid="second")]
    replica(objects, mirror, made)

    assert made.simulation().pods["default/a"].uid == "second"
    assert ANSWERS["pod"](made, "default/a", ()).state == "pending"


def test_explanations_are_those_of_podium_explain():
    made = replica(cluster(pod("big", cpu="9")))
    own = Simulation.from_objects([*cluster()["Node"], pod("big", cpu="9")])

    found = ANSWERS["pod"](made, "default/big", ("n1",))

    assert found == own.explain("default/big", nodes=("n1",))
    assert found.near_misses
    assert found.fixes
    assert [each.node for each in found.verdicts] == ["n1"]


@pytest.mark.parametrize("name", ["n7", "default/a"])
def test_a_node_that_does_not_exist(name):
    with pytest.raises(Unknown, match="no node"):
        ANSWERS["node"](replica(cluster()), name)


# --- what if ------------------------------------------------------------------------------------


def asked(made, **body):
    return json.loads(msgspec.json.encode(what_if(made, msgspec.json.encode(body))))


def test_a_report_is_that_of_podium_simulate():
    pods = [pod("a", cpu="1", node_name="n0", uid="u1"), pod("big", cpu="9", uid="u2")]
    made = replica(cluster(*pods))
    own = Simulation.from_objects([*cluster()["Node"], *pods])

    assert asked(made, drain=["n0"]) == json.loads(report_json(run(own, [DrainNodes(("n0",))])))


def test_the_replica_stays_as_it_is():
    made = replica(cluster(pod("a", cpu="1", node_name="n0")))
    before = {key: each.node_name for key, each in made.simulation().pods.items()}
    manifest = dumps.manifest("new", "1")

    found = asked(made, add=[manifest], replicas=3, addNodesLike="n0", addNodes=2)

    assert len(found["placed"]) == 3
    assert (found["before"]["nodes"], found["after"]["nodes"]) == (3, 5)
    assert {key: each.node_name for key, each in made.simulation().pods.items()} == before
    assert len(made.simulation().nodes) == 3


def test_a_manifest_may_have_many_objects():
    text = "\n---\n".join(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: m{number}}}\n"
        "spec: {containers: [{name: c, image: x}]}"
        for number in range(2)
    )
    assert len(asked(replica(cluster()), manifest=text)["placed"]) == 2


def test_a_weight_sends_pods_elsewhere():
    """Without TaintToleration nothing keeps pods off the large node."""
    nodes = [node("small", cpu="1"), node("large", cpu="64", taints="spot:PreferNoSchedule")]
    made = replica(seen(nodes, [pod(f"p{n}", cpu="200m", memory="1Mi") for n in range(4)]))

    def weighed(plugin, weight):
        change = {"profile": "default-scheduler", "plugin": plugin, "weight": weight}
        return asked(made, weights=[change])

    same, other = weighed("ImageLocality", 1), weighed("TaintToleration", 0)

    assert (same["kind"], same["differences"]) == ("Comparison", [])
    assert other["first"]["placed"] == other["second"]["placed"] == 4
    assert other["differences"]


CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: TaintToleration}]}}
"""


def test_a_configuration_sends_pods_elsewhere_as_its_weights_would():
    nodes = [node("small", cpu="1"), node("large", cpu="64", taints="spot:PreferNoSchedule")]
    made = replica(seen(nodes, [pod(f"p{n}", cpu="200m", memory="1Mi") for n in range(4)]))
    weight = {"profile": "default-scheduler", "plugin": "TaintToleration", "weight": 0}

    found = asked(made, configuration=CONFIGURATION)

    assert found["kind"] == "Comparison"
    assert found["differences"]
    assert found["differences"] == asked(made, weights=[weight])["differences"]
    default = CONFIGURATION.partition("profiles")[0]
    assert asked(made, configuration=default)["differences"] == []


def test_a_configuration_without_the_pods_profile_leaves_them_pending():
    text = CONFIGURATION.replace("default-scheduler", "other")
    found = asked(replica(cluster(pod("a"))), configuration=text)

    assert (found["fits"], found["second"]["placed"]) == (False, 0)
    assert [(each["pod"], each["second"]) for each in found["differences"]] == [("default/a", "")]


def test_extenders_of_a_configuration_are_named_and_not_asked():
    text = f"{CONFIGURATION}extenders: [{{urlPrefix: 'http://127.0.0.1:9/x', filterVerb: filter}}]"
    found = asked(replica(cluster(pod("a"))), configuration=text)

    assert found["notes"] == ["extenders are not asked: http://127.0.0.1:9/x"]
    assert found["second"]["placed"] == 1


def test_pods_of_a_group_are_placed_together_or_not_at_all():
    """As the scheduler does that has watched the group; before, they wait for it."""
    objects = {**cluster(*(member(name, cpu="3") for name in "abcd")), GROUP: [group(min_count=4)]}
    before = asked(replica(objects), addNodesLike="n0", addNodes=1)
    assert (len(before["placed"]), before["before"]["pending"]) == (4, 4)

    too_few = {**objects, GROUP: [group(min_count=5)]}
    assert asked(replica(too_few), addNodesLike="n0", addNodes=1)["placed"] == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param({"configuration": "a: b: c"}, "the configuration", id="not-a-yaml"),
        pytest.param({"configuration": "/etc/passwd"}, "the configuration", id="a-path"),
        pytest.param({"configuration": CONFIGURATION.replace("disabled: [{name: T",
                                                             "enabled: [{name: Tt")},
                     'did you mean "TaintToleration"', id="mistyped-plugin"),
        pytest.param({"configuration": CONFIGURATION, "drain": ["n0"]}, "not both at once",
                     id="cluster-and-configuration"),
        pytest.param({}, "nothing to try", id="nothing"),
        pytest.param({"drain": ["n7"]}, 'no node n7', id="mistyped-node"),
        pytest.param({"addNodesLike": "n7"}, "n7", id="like-no-node"),
        pytest.param({"drain": ["n0"], "weights": [{"profile": "p", "plugin": "q", "weight": 1}]},
                     "not both at once", id="cluster-and-weights"),
        pytest.param({"weights": [{"profile": "p", "plugin": "q", "weight": 1}]},
                     "no profile p; there are: default-scheduler", id="no-such-profile"),
        pytest.param({"weights": [{"profile": "default-scheduler", "plugin": "q", "weight": 1}]},
                     "q does not score", id="no-such-plugin"),
        pytest.param({"manifest": "a: b: c"}, "cannot be read", id="not-yaml"),
        pytest.param({"manifest": "just words"}, "must have objects", id="not-an-object"),
        pytest.param({"add": [{"kind": "Deployment"}]}, "expected a v1 Pod", id="not-a-pod"),
    ],
)  # fmt: skip
def test_questions_that_cannot_be_answered(body, error):
    with pytest.raises(PodiumError, match=error.replace("?", r"\?")):
        asked(replica(cluster()), **body)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"drains": ["n0"]}', b'{"replicas": 0}', b'{"replicas": 1e9}', b"\xff"]
)
def test_questions_that_cannot_be_read(body):
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)):
        what_if(replica(cluster()), body)


def test_too_many_pods_are_not_scheduled_anew(monkeypatch):
    made = replica(cluster(pod("a")))
    monkeypatch.setattr("podium.dashboard.questions.MOST_RESCHEDULED", 0)

    with pytest.raises(Unanswerable, match="podium simulate compare"):
        asked(
            made, weights=[{"profile": "default-scheduler", "plugin": "ImageLocality", "weight": 2}]
        )
    assert MOST_RESCHEDULED > 0


def test_kinds_have_the_names_of_events():
    assert {RESOURCES[name].struct for name in ("Pod", "Node", "Namespace")} == {
        Pod,
        Node,
        Namespace,
    }
