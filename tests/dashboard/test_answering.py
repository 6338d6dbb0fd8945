"""The process that answers: whatever it does, it can be ended, and nobody waits for it."""

import json
import os
import select
import threading

import pytest

from podium.app import in_tree
from podium.config import default
from podium.config.explicit import explicit
from podium.dashboard.answering import Answering
from podium.dashboard.mirror import Changes, Decider
from tests.support import dumps

pytestmark = pytest.mark.slow

DECIDER = Decider(explicit(default(in_tree())), "1.37")
NODES = Changes({"Node": [json.dumps(dumps.node(f"n{n}", "1000")).encode() for n in range(3)]}, [])
NOTHING = Changes({}, [])


@pytest.fixture
def process():
    made = Answering()
    yield made
    made.end()


def what_if(replicas, changes=NOTHING):
    body = json.dumps({"add": [dumps.manifest("many", "1m")], "replicas": replicas}).encode()
    return (60, DECIDER, changes, "what-if", (body,))


def test_a_process_that_is_ended_in_the_middle_of_an_answer(process):
    first = process.ask(what_if(1, NODES))
    assert (first.status, len(json.loads(first.body)["placed"])) == (200, 1)
    raised = []

    def ask():
        with pytest.raises((EOFError, OSError)) as info:
            process.ask(what_if(10_000))
        raised.append(info.type)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    handle = os.pidfd_open(process.pid)
    process.end()
    asking.join(30)

    assert len(raised) == 1
    assert select.select([handle], [], [], 30)[0]  # it has ended
    os.close(handle)


def test_a_question_that_nobody_has_thought_of_fails_alone(process):
    failed = process.ask((60, DECIDER, NODES, "pod", ()))
    assert (failed.status, b"its log has the traceback" in failed.body) == (500, True)
    assert process.ask(what_if(2)).status == 200
