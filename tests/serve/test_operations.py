"""What programs can ask about a cluster."""

import pytest

from podium import snapshot
from podium.errors import PodiumError
from podium.serve import operations, values
from podium.serve.worker import Stopped
from podium.simulation import Simulation
from tests.support import dumps


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    path = dumps.written(tmp_path_factory.mktemp("dump") / "dump.json")
    return Simulation.from_snapshot(snapshot.load(path))


@pytest.fixture(autouse=True)
def _unchanged(simulation):
    """No question changes the cluster."""
    before = dict(simulation.pods), dict(simulation.nodes), set(simulation.pending)
    yield
    assert (dict(simulation.pods), dict(simulation.nodes), set(simulation.pending)) == before


def test_a_pending_pod(simulation):
    found = operations.explain_existing(simulation, "default/huge", ["two"])

    assert (found.state, found.nodes, found.feasible) == ("pending", 3, 0)
    assert found.fixes
    assert [verdict.node for verdict in found.verdicts] == ["two"]


def test_a_placed_pod(simulation):
    found = operations.explain_existing(simulation, "default/web-1", [])

    assert (found.state, found.node) == ("placed", "one")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        pytest.param("default/hugee", 'no pod default/hugee; did you mean "huge"?', id="mistyped"),
        pytest.param("prod/huge", 'no pod prod/huge; did you mean "default/huge"?', id="elsewhere"),
        pytest.param("default/xyz", "no pod default/xyz", id="unlike-any"),
    ],
)
def test_an_unknown_pod(simulation, key, message):
    with pytest.raises(operations.Unknown) as fault:
        operations.explain_existing(simulation, key, [])

    assert str(fault.value) == message


def test_a_pod_that_does_not_exist(simulation):
    found = operations.explain_manifest(simulation, dumps.manifest("new", "2"), ["two"])

    assert (found.pod, found.state) == ("default/new", "placeable")
    assert found.node in ("one", "three")
    assert not found.verdicts[0].fits  # only 1 cpu is free there


def test_a_manifest_may_be_copied_from_a_cluster(simulation):
    """What says that it exists, or where it runs, is not part of the question."""
    found = operations.explain_manifest(simulation, simulation_copy("web-2", "3", "two"), [])

    assert (found.pod, found.state) == ("default/web-2-new", "placeable")


@pytest.mark.parametrize(
    ("metadata", "pod"),
    [
        pytest.param({"name": "new"}, "default/new", id="free"),
        pytest.param({"name": "web-2"}, "default/web-2-new-1", id="taken"),
        pytest.param({"name": "web-2", "namespace": "other"}, "other/web-2", id="elsewhere"),
        pytest.param({"generateName": "job-"}, "default/job-0", id="to-be-generated"),
        pytest.param({"generateName": "web-"}, "default/web-0", id="generated-beside-others"),
        pytest.param({}, "default/pod", id="none"),
    ],
)
def test_a_pod_to_ask_about_gets_a_free_name(simulation, metadata, pod):
    manifest = {**dumps.manifest(""), "metadata": metadata}

    assert operations.explain_manifest(simulation, manifest, []).pod == pod
    found = operations.simulate(simulation, values.SimulateRequest(add=[manifest]))
    assert [each.pod for each in found.placed] == [pod]


def simulation_copy(name, cpu, node_name):
    copied = dumps.pod(name, cpu, node_name)
    copied["metadata"]["name"] = f"{name}-new"
    return copied


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param({"kind": "Deployment"}, id="another-kind"),
        pytest.param({"metadata": []}, id="metadata-that-is-a-list"),
        pytest.param({"spec": {"containers": "none"}}, id="containers-that-are-a-text"),
        pytest.param({"spec": {"containers": []}}, id="no-containers"),
        pytest.param({}, id="empty"),
        pytest.param(dumps.manifest("x", "-1"), id="negative-request"),
    ],
)
def test_manifests_that_are_wrong(simulation, manifest):
    with pytest.raises(PodiumError):
        operations.explain_manifest(simulation, manifest, [])


@pytest.mark.parametrize(
    ("cpu", "replicas", "fits", "count"),
    [
        pytest.param("1", 1, True, 8, id="one"),
        pytest.param("1", 8, True, 8, id="just-enough"),
        pytest.param("1", 9, False, 8, id="one-too-many"),
        pytest.param("9", 1, False, 0, id="too-large"),
    ],
)
def test_how_many_fit(simulation, cpu, replicas, fits, count):
    request = values.FitRequest(pod=dumps.manifest("new", cpu), replicas=replicas)
    found = operations.fit(simulation, request)

    assert (found.fits, found.count, found.replicas) == (fits, count, replicas)
    assert sum(each.pods for each in found.nodes) == count
    is_explained = not count or replicas == 1
    assert (found.explanation is not None) is is_explained


def test_a_fit_without_an_explanation(simulation):
    request = values.FitRequest(pod=dumps.manifest("new", "9"), explain=False)

    assert operations.fit(simulation, request).explanation is None


def test_more_nodes(simulation):
    added = [dumps.manifest("large", "4")]
    before = operations.simulate(simulation, values.SimulateRequest(add=added, replicas=2))
    more = values.SimulateRequest(
        add=added, replicas=2, add_nodes=[values.NewNodes(like="three", count=2)]
    )
    after = operations.simulate(simulation, more)

    assert (before.fits, after.fits) == (False, True)
    placed = {each.pod for each in after.placed}
    assert placed == {"default/large-0", "default/large-1"}
    assert {each.pod for each in after.unplaced} == {"default/huge", "default/gated"}


def test_names_within_one_request(simulation):
    added = [dumps.manifest("web", "100m"), dumps.manifest("web", "100m"),
             {**dumps.manifest("", "100m"), "metadata": {"generateName": "web-"}}]  # fmt: skip
    found = operations.simulate(simulation, values.SimulateRequest(add=added, replicas=3))

    assert len({each.pod for each in found.placed}) == 9
    assert "default/web-1" not in {each.pod for each in found.placed}  # it is there already


def test_a_workload_has_its_own_number_of_pods_unless_told_otherwise(simulation):
    template = {"metadata": {"labels": {"app": "x"}}, "spec": dumps.manifest("x", "100m")["spec"]}
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"},
        "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "x"}}, "template": template},
    }  # fmt: skip
    own = operations.simulate(simulation, values.SimulateRequest(add=[deployment]))
    told = operations.simulate(simulation, values.SimulateRequest(add=[deployment], replicas=2))

    assert (len(own.placed), len(told.placed)) == (4, 2)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        pytest.param(
            {"add": [dumps.manifest(f"p{number}") for number in range(3)], "replicas": 5},
            "more than 12 objects", id="pods-times-replicas",
        ),
        pytest.param(
            {"add": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "x"},
                      "spec": {"replicas": 10**9, "selector": {"matchLabels": {"a": "b"}},
                               "template": {"metadata": {"labels": {"a": "b"}},
                                            "spec": dumps.manifest("x")["spec"]}}}]},
            "more than 12 objects", id="replicas-of-a-workload",
        ),
        pytest.param(
            {"add_nodes": [values.NewNodes(like="one", count=600)] * 2},
            "the number of new nodes must be from 1 to 1,000, not 1,200", id="nodes",
        ),
    ],
)  # fmt: skip
def test_one_request_is_bounded_as_a_whole(simulation, monkeypatch, request_, error):
    monkeypatch.setattr(values, "MOST_ADDED", 12)
    with pytest.raises(PodiumError, match=error):
        operations.simulate(simulation, values.SimulateRequest(**request_))


def test_pending_pods_that_a_drain_places_are_not_lost(tmp_path):
    path = dumps.written(
        tmp_path / "dump.json", dumps.node("one"), dumps.node("two"), dumps.replica_set("web", 1),
        dumps.pod("web-1", node_name="one", owner="web"), dumps.pod("waits", "3"),
    )  # fmt: skip
    simulation = Simulation.from_snapshot(path)
    found = operations.simulate(simulation, values.SimulateRequest(drain=["one"]))

    assert [(each.pod, each.node) for each in found.placed] == [("default/waits", "two")]
    assert [(each.pod, each.target) for each in found.moves] == [("default/web-1", "two")]
    assert (found.fits, found.unplaced) == (True, ())


@pytest.mark.parametrize("name", ["explain_existing", "explain_manifest", "simulate", "fit"])
def test_every_question_can_be_stopped(simulation, name):
    calls = {
        "explain_existing": lambda: operations.explain_existing(simulation, "default/huge", []),
        "explain_manifest": lambda: operations.explain_manifest(
            simulation, dumps.manifest("new", "9"), []
        ),
        "simulate": lambda: operations.simulate(simulation, values.SimulateRequest(drain=["two"])),
        "fit": lambda: operations.fit(
            simulation, values.FitRequest(pod=dumps.manifest("new", "9"))
        ),
    }
    checks = 0

    def count():
        nonlocal checks
        checks += 1

    with simulation.stoppable(count):
        calls[name]()
    assert checks > 1
    for last in range(checks):  # wherever it is stopped, nothing is left behind

        def stop(left=[last]):  # noqa: B006  # counts down
            left[0] -= 1
            if left[0] < 0:
                raise Stopped

        with pytest.raises(Stopped), simulation.stoppable(stop):
            calls[name]()
        simulation.core.cluster.check_invariants()
        simulation.queue.check_invariants()
    calls[name]()


def test_a_drained_node(simulation):
    found = operations.simulate(simulation, values.SimulateRequest(drain=["two"]))

    (move,) = found.moves
    assert (move.pod, move.source) == ("default/web-2", "two")
    assert move.target in ("one", "three")
    assert found.fits


def test_a_drained_node_whose_pod_fits_nowhere_else(simulation):
    request = values.SimulateRequest(drain=["two"], remove_nodes=["one", "three"])
    found = operations.simulate(simulation, request)

    assert not found.fits


def test_a_removed_pod_makes_room(simulation):
    request = values.SimulateRequest(
        remove_pods=["default/web-2"],
        add=[dumps.manifest("new", "4", nodeSelector={"disk": "ssd"})],
    )

    assert operations.simulate(simulation, request).fits


@pytest.mark.parametrize("field", ["drain", "remove_nodes", "remove_pods"])
def test_unknown_names(simulation, field):
    with pytest.raises(operations.Unknown):
        operations.simulate(simulation, values.SimulateRequest(**{field: ["nope"]}))


def test_a_node(simulation):
    found = operations.explain_one_node(simulation, "two")

    assert found.node == "two"
    assert [each.pod for each in found.pods] == ["default/web-2"]


def test_a_node_is_asked_about_some_pending_pods(tmp_path):
    many = [dumps.pod(f"p{number}", "9") for number in range(operations.MOST_PENDING + 1)]
    path = dumps.written(tmp_path / "dump.json", dumps.node("one"), *many)
    found = operations.explain_one_node(Simulation.from_snapshot(path), "one")

    assert len(found.pending) == operations.MOST_PENDING
    assert found.notes[-1] == "only 50 of 51 pending pods were tried"
