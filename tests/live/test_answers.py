"""The endpoints under /debug/podium, asked over HTTP while the scheduler runs elsewhere."""

import asyncio
import threading

import aiohttp
import pytest
from aiohttp import web

from podium import framework as fwk
from podium.live.answer_values import Failure
from podium.live.answers import Answers
from podium.live.asking import Asking
from podium.testing.builders import pod
from tests.support import toys
from tests.support.introspection import introspection
from tests.support.live import play

FULL = fwk.Status.unschedulable("no room")


class Asked:
    """A server in a thread of its own, which asks the desk on the desk's loop."""

    def __init__(self, desk, patience=5.0, scheduler=None):
        scheduler = scheduler or introspection(desk)
        self._answers = Answers(scheduler, Asking(asyncio.get_running_loop(), patience))

    async def get(self, *paths):
        """Return the status and the JSON of each path."""
        found = asyncio.get_running_loop().create_future()
        finish = asyncio.get_running_loop().call_soon_threadsafe
        threading.Thread(
            target=lambda: finish(found.set_result, asyncio.run(self._serve(paths)))
        ).start()
        return await found

    async def _serve(self, paths):
        app = web.Application()
        self._answers.add_to(app)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0]
        try:
            async with aiohttp.ClientSession(f"http://{host}:{port}") as session:
                return await asyncio.gather(*(self._one(session, path) for path in paths))
        finally:
            await runner.cleanup()

    async def _one(self, session, path):
        async with session.get(f"/debug/podium{path}") as answer:
            return answer.status, await answer.json()


def test_answers_from_another_thread():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()

        who, queue, of_pod, of_node = await Asked(desk).get(
            "", "/queue", "/pods/default/web?node=n1", "/nodes/n1"
        )
        assert [status for status, _ in (who, queue, of_pod, of_node)] == [200] * 4
        assert who[1]["apiVersion"] == "podium.dev/records/v1"
        assert who[1]["server"] == "http://127.0.0.1:6443"
        assert (queue[1]["unschedulable"], queue[1]["pods"][0]["pod"]) == (1, "default/web")
        assert of_pod[1]["queued"]["rejectedBy"] == ["Full"]
        assert of_pod[1]["attempts"][0]["onNode"]["verdict"] == "refused"
        assert of_node[1]["refusals"] == [{"plugin": "Full", "reason": "no room", "attempts": 1}]

    play(scene, toys.Filter("Full", FULL), toys.Bind("Bind"))


@pytest.mark.parametrize(
    ("path", "status", "error", "hint"),
    [
        pytest.param("/pods/default/webb", 404, 'no pod default/webb; did you mean "web"?', "",
                     id="mistyped-pod"),
        pytest.param("/pods/other/web", 404, "no pod other/web", "", id="another-namespace"),
        pytest.param("/nodes/m1", 404, "no node m1", "", id="unknown-node"),
        pytest.param("/nodes/node-on", 404, 'no node node-on; did you mean "node-one"?', "",
                     id="mistyped-node"),
        pytest.param("/pods/default/web?attempt=7", 404,
                     "no record of attempt 7 of default/web", "remembered: 1", id="no-attempt"),
        pytest.param("/pods/default/web?attempt=0", 400,
                     "attempt must be a number from 1 to 2147483648, not '0'", "", id="attempt-0"),
        pytest.param("/queue?limit=-1", 400, "limit must be a number from 1 to 1000, not '-1'", "",
                     id="negative-limit"),
        pytest.param("/queue?limit=9999", 400, "limit must be a number from 1 to 1000, not '9999'",
                     "", id="too-many"),
        pytest.param("/queue?limit=%F0%9F%98%80", 400,
                     "limit must be a number from 1 to 1000, not '😀'", "", id="not-a-number"),
    ],
)  # fmt: skip
def test_bad_requests(path, status, error, hint):
    async def scene(desk):
        desk.see_nodes("node-one")
        desk.see(pod("web"))
        await desk.settle()

        assert await Asked(desk).get(path) == [(status, {"error": error, "hint": hint})]

    play(scene, toys.Filter("Full", FULL), toys.Bind("Bind"))


def test_one_attempt_of_several():
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()
        desk.see_nodes("n2")
        await desk.wait(400)  # tried again, event or not

        both, second = await Asked(desk).get("/pods/default/web", "/pods/default/web?attempt=2")
        assert [each["attempt"] for each in both[1]["attempts"]] == [1, 2]
        assert [each["attempt"] for each in second[1]["attempts"]] == [2]

    play(scene, toys.Filter("Full", FULL), toys.Bind("Bind"))


def test_a_scheduler_that_is_stuck():
    async def scene(desk):
        stuck = Asked(desk, patience=0.0)
        ((status, answer),) = await stuck.get("/queue")
        assert status == 504
        assert "did not answer within 0 s" in answer["error"]

    play(scene)


class Slow:
    """A scheduler about whose nodes an answer takes until another question was asked."""

    def __init__(self):
        self._is_asked = threading.Event()

    def look_at_node(self, name):
        def answer():
            assert self._is_asked.wait(30), "the server answers nothing else meanwhile"
            return Failure(error=f"about {name}")

        return answer

    def identity(self):
        self._is_asked.set()
        return Failure(error="who")


def test_an_answer_that_takes_long_delays_no_other_request():
    async def scene(desk):
        asked = Asked(desk, scheduler=Slow())
        node, who = await asked.get("/nodes/n1", "")
        assert (node[1]["error"], who[1]["error"]) == ("about n1", "who")

    play(scene)
