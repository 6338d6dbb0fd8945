"""Namespaces, events, pods of lost nodes, and the runner that drives them all."""

import pytest

from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.runner import Runner, itself
from podium.clock import FakeClock
from tests.support.controllers import World, node, pod, workload


def test_a_namespace_goes_with_everything_in_it(world):
    world.create("namespaces", {"metadata": {"name": "team"}})
    world.create("deployments.apps", workload(replicas=2), "team")
    world.create("configmaps", {"metadata": {"name": "settings"}}, "team")
    world.run_all()

    world.delete("namespaces", "team")
    assert world.status("namespaces", "team")["phase"] == "Terminating"
    world.wait(5)

    assert "team" not in world.names("namespaces")
    assert world.names("pods", "team") == world.names("configmaps", "team") == []


def test_a_namespace_waits_for_finalizers(world):
    world.create("namespaces", {"metadata": {"name": "team"}})
    held = {"metadata": {"name": "settings", "finalizers": ["example.com/wait"]}}
    world.create("configmaps", held, "team")

    world.delete("namespaces", "team")
    world.wait(60)
    assert "team" in world.names("namespaces")
    world.change("configmaps", "settings", lambda obj: obj["metadata"].pop("finalizers"), "team")
    world.wait(2)

    assert "team" not in world.names("namespaces")


def test_events_expire(world):
    world.create("replicasets.apps", workload(replicas=1))
    assert world.names("events")

    world.wait(3601)

    assert world.names("events") == []


def test_pods_of_a_lost_node_are_deleted_after_a_while(world):
    world.create("pods", pod())
    world.run_all()

    world.delete("nodes", "n1")
    world.wait(30)
    assert list(world.pods()) == ["web"]
    world.wait(10)

    assert world.names("pods") == []


class Recorder:
    """A controller that notes its calls and does as told."""

    name = "recorder"

    def __init__(self, answers=()):
        self.calls = []
        self.answers = list(answers)
        self.watches = {"configmaps": itself}

    def reconcile(self, key):
        self.calls.append(key[1])
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer


def running(controller):
    clock = FakeClock()
    api = new_api(clock, history=50, seed=1)
    runner = Runner(api.store, [controller])
    runner.start()
    clock.advance(0)
    return clock, api.store, runner


def settings(name="a", **data):
    return {"metadata": {"name": name, "namespace": "default"}, "data": data}


def test_many_changes_between_two_looks_are_one_call():
    recorder = Recorder()
    clock, store, _ = running(recorder)

    store.create("configmaps", settings())
    store.update("configmaps", settings(x="1"))
    clock.advance(0)

    assert recorder.calls == ["a"]


def test_a_call_is_repeated_after_the_time_it_asked_for():
    recorder = Recorder([5.0])
    clock, store, _ = running(recorder)
    store.create("configmaps", settings())

    clock.advance(4)
    assert recorder.calls == ["a"]
    clock.advance(1)

    assert recorder.calls == ["a", "a"]


def test_a_fault_is_logged_and_tried_again_later(caplog):
    recorder = Recorder([ValueError("oops"), ValueError("oops")])
    clock, store, _ = running(recorder)
    store.create("configmaps", settings())
    store.create("configmaps", settings("b"))
    clock.advance(0)
    assert recorder.calls == ["a", "b"]

    clock.advance(0.1)

    assert sorted(recorder.calls) == ["a", "a", "b", "b"]
    assert "reconcile failed" in caplog.text
    assert "oops" in caplog.text


def test_more_changes_than_the_history_holds():
    recorder = Recorder()
    clock, store, _ = running(recorder)

    for number in range(200):
        store.create("configmaps", settings(f"a{number:03}"))
    clock.advance(0)

    assert sorted(set(recorder.calls)) == [f"a{number:03}" for number in range(200)]


def test_what_went_beyond_the_history_is_told_too():
    recorder = Recorder()
    clock, store, _ = running(recorder)
    store.create("configmaps", settings("kept"))
    store.create("configmaps", settings("gone"))
    clock.advance(0)
    recorder.calls.clear()

    store.delete("configmaps", ("default", "gone"))
    for number in range(200):
        store.create("configmaps", settings(f"a{number:03}"))
    clock.advance(0)

    assert "gone" in recorder.calls
    assert "kept" not in recorder.calls


def test_nothing_happens_after_the_stop():
    recorder = Recorder([5.0])
    clock, store, runner = running(recorder)
    store.create("configmaps", settings())
    clock.advance(0)

    runner.stop()
    store.create("configmaps", settings("b"))
    clock.advance(60)

    assert recorder.calls == ["a"]


@pytest.mark.parametrize(
    ("resource", "spec"),
    [
        pytest.param("replicasets.apps", {"replicas": 250}, id="set"),
        pytest.param("jobs.batch", {"parallelism": 250, "completions": 250}, id="job"),
        pytest.param("daemonsets.apps", {}, id="daemons"),
    ],
)
def test_many_pods_are_made_in_turns_and_all_of_them(resource, spec):
    world = World(kubelets=False)
    if resource == "daemonsets.apps":
        for number in range(250):
            world.create("nodes", ready(f"n{number}"))
    made = workload(**spec)
    if resource == "jobs.batch":
        made["spec"].pop("selector")
        made["spec"]["template"]["spec"]["restartPolicy"] = "Never"

    world.create(resource, made)

    assert len(world.pods()) == 250


def ready(name):
    conditions = [{"type": "Ready", "status": "True"}]
    return {**node(name), "status": {"conditions": conditions}}
