"""Plugins that have threads of their own, told through the API alone."""

import threading

from podium import framework as fwk
from tests.support.scenarios import node, play, pod, reasons


class Held(fwk.PreEnqueuePlugin, fwk.PermitPlugin, fwk.EnqueueExtensions):
    """Holds ``later`` back from the queue and every pod in Permit; the test decides."""

    name = "Held"

    def __init__(self, args, handle):
        type(self).handle = handle
        type(self).is_open = False

    def pre_enqueue(self, subject):
        if subject.name == "later" and not self.is_open:
            return fwk.Status.unresolvable("not yet")
        return None

    def permit(self, state, subject, node_name):
        return fwk.wait(60) if subject.name != "later" else None

    def events_to_register(self):
        return []


def in_a_thread(work):
    """Run it to its end; returns what it returned, or raises what it raised."""
    answers, faults = [], []

    def run():
        try:
            answers.append(work())
        except Exception as fault:
            faults.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return answers[0]


def test_a_thread_allows_and_rejects_waiting_pods():
    def decide():
        waiting = {each.pod.name: each for each in Held.handle.waiting_pods}
        waiting["good"].allow("Held")
        return waiting["bad"].reject("Held", "no"), waiting["good"].outcome, waiting["bad"].outcome

    async def scene(cluster):
        await cluster.create(node(), pod("good"), pod("bad"))
        await cluster.settle()
        # It is asked for; that it happens on the loop is why nothing has happened yet.
        assert in_a_thread(decide) == (True, None, None)
        await cluster.settle()

        assert cluster.node_of("good") == "n1"
        assert cluster.node_of("bad") is None
        told = "0/1 nodes are available: 1 no."
        assert reasons(cluster, "bad") == [("FailedScheduling", told)]

    play(scene, Held)


def test_a_thread_activates_a_pod():
    async def scene(cluster):
        await cluster.create(node(), pod("later"))
        await cluster.wait(30)
        (queued,) = cluster.scheduler.scheduler.queue.pods()
        assert cluster.node_of("later") is None

        Held.is_open = True
        in_a_thread(lambda: Held.handle.activate([queued.pod]))
        await cluster.settle()
        assert cluster.node_of("later") == "n1"

    play(scene, Held)
