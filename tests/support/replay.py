"""Traces for tests: lines as dicts, from one function for each kind of line."""

import json

import msgspec

from podium import app, config
from podium.replay.engine import Replay
from podium.replay.lines import AnyLine, End, Objects, Shape, Timed, Trace

HEADER = {"event": "trace", "version": 1}
END = {"event": "end"}


def nodes(name="n", *, cpu="4", count=None, time=0, **more):
    found = {"event": "nodes", "time": time, "name": name, "allocatable": {"cpu": cpu}, **more}
    return found if count is None else {**found, "count": count}


def arrive(name, time=0, *, cpu=None, duration=None, **more):
    found = {"event": "arrive", "time": time, "name": name, **more}
    if cpu is not None:
        found["requests"] = {"cpu": cpu}
    return found if duration is None else {**found, "duration": duration}


def depart(name, time):
    return {"event": "depart", "time": time, "name": name}


def remove_node(name, time):
    return {"event": "remove-node", "time": time, "name": name}


def text(*lines):
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def trace(*lines):
    """A trace of these lines, without header and perhaps without end."""
    found = [msgspec.convert(line, AnyLine) for line in lines]
    return Trace(
        name="test",
        objects=[obj for line in found if isinstance(line, Objects) for obj in line.items],
        shapes={line.name: line for line in found if isinstance(line, Shape)},
        lines=[line for line in found if isinstance(line, Timed)],
        end=next((line.time for line in found if isinstance(line, End)), None),
    )


def replay(*lines, registry=None, configuration=None, **options):
    """A replay that has run."""
    registry = registry or app.in_tree()
    configuration = configuration or config.default(registry)
    found = Replay(trace(*lines), configuration, registry, **options)
    found.run(lambda _: check(found))
    return found


def check(replay):
    """No node has more than it can have, and nothing contradicts anything."""
    cluster = replay.scheduler.core.cluster
    live = cluster.table.live_rows()
    columns = cluster.table.resources
    assert (columns.requested[:, live] <= columns.allocatable[:, live]).all()
    cluster.check_invariants()
    replay.scheduler.queue.check_invariants()


def lives(replay):
    return {life.arrival.name: life for life in replay.lives}


def bound_at(replay):
    return {life.arrival.name: life.bound for life in replay.lives}


def fates(replay):
    return {life.arrival.name: str(life.fate) for life in replay.lives}
