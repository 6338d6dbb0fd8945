"""Versions that a server has forgotten, and versions that it has not reached: the same answers."""

import json

import pytest

from tests.support.control_plane import sides
from tests.support.control_plane.comparison import Ask, all_differences

pytestmark = pytest.mark.cluster

NAMESPACE = {"metadata": {"name": "expiry"}}
HISTORY = 5


@pytest.fixture(scope="module")
def forgetful(binaries, tmp_path_factory):
    folder = tmp_path_factory.mktemp("forgetful")
    with sides.embedded(folder, history=HISTORY, release=binaries.release) as side:
        yield side


def event(name):
    return {"metadata": {"name": name}, "involvedObject": {"namespace": "expiry"}}


def past(ask, forget):
    """Events, since a real server keeps no cache of them: what etcd has forgotten is gone."""
    path = ask.core("events")
    for name in "abcd":
        ask.create(path, event(name))
    page = ask.get(f"{path}?limit=2")["metadata"]
    ask.delete(f"{path}/d")
    forget()
    version = page["resourceVersion"]
    rest = ask.get(f"{path}?limit=2&continue={page['continue']}")["metadata"]
    ask.get(f"{path}?limit=2&continue={rest['continue']}")
    ask.get(f"{path}?resourceVersion={version}&resourceVersionMatch=Exact")
    ask.get(f"{path}?resourceVersion={version}&resourceVersionMatch=Exact&limit=1")
    ask.get(f"{path}?resourceVersion={version}&limit=1")
    ask.get(f"{path}?resourceVersion={version}&resourceVersionMatch=NotOlderThan")
    ask.get(f"{path}?resourceVersion={version}")
    ask.get(f"{path}/a?resourceVersion={version}")
    ask.watch(f"{path}?watch=1&resourceVersion=1", 1)


def future(ask):
    path = ask.core("configmaps")
    ask.create(path, {"metadata": {"name": "a"}})
    later = f"resourceVersion={10**12}"
    ask.get(f"{path}?{later}")
    ask.get(f"{path}?{later}&limit=1")
    ask.get(f"{path}?{later}&resourceVersionMatch=Exact")
    ask.get(f"{path}?{later}&resourceVersionMatch=NotOlderThan")
    ask.get(f"{path}/a?{later}")
    ask.watch(f"{path}?watch=1&timeoutSeconds=1&{later}", 0)  # it waits
    initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    ask.watch(f"{path}?watch=1&{initial}&{later}", 1)


def test_the_past(forgetful, theirs, plane):
    def forget():
        path = "/api/v1/namespaces/expiry/events"
        for _ in range(HISTORY + 1):
            for method, where in (("POST", path), ("DELETE", f"{path}/passing")):
                forgetful.request(method, where, json.dumps(event("passing")).encode())

    asks = [asked(past, forgetful, forget), asked(past, theirs, plane.forget)]

    assert all_differences(*asks) == []


def test_the_future(forgetful, theirs):
    assert all_differences(asked(future, forgetful), asked(future, theirs)) == []


def asked(script, side, *more):
    ask = Ask(side, "expiry")
    side.request("POST", "/api/v1/namespaces", json.dumps(NAMESPACE).encode())
    script(ask, *more)
    return ask.answers
