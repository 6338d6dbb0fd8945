"""Generated traces: replays equal a slow model, and never contradict themselves."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from podium.replay.lives import Fate
from tests.support.replay import arrive, bound_at, depart, nodes, remove_node, replay
from tests.support.replay_model import Model
from tests.support.search import examples

CPU = 4


@st.composite
def one_node(draw):
    """Arrivals and departures for one node, with equal times and whole seconds among them."""
    times = st.one_of(st.integers(0, 40), st.integers(0, 80).map(lambda half: half / 2))
    lines, names = [], []
    for number in range(draw(st.integers(1, 12))):
        name = f"p{number}"
        duration = draw(st.one_of(st.none(), st.integers(0, 12).map(lambda part: part / 2)))
        pod = {
            "spec": {
                "preemptionPolicy": "Never",
                "priority": draw(st.integers(0, 2)),
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": str(draw(st.integers(1, 5)))}}}
                ],
            }
        }
        lines.append(arrive(name, draw(times), duration=duration, pod=pod))
        names.append(name)
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        since = next(line["time"] for line in lines if line["name"] == name)
        lines.append(depart(name, since + draw(st.integers(0, 20))))
    return sorted(lines, key=lambda line: line["time"])


def as_modelled(line):
    if line["event"] != "arrive":
        return line
    spec = line["pod"]["spec"]
    requests = spec["containers"][0]["resources"]["requests"]
    return {**line, "requests": requests, "priority": spec["priority"]}


@given(lines=one_node())
@examples(300)
def test_equals_the_model(lines):
    found = replay(nodes(cpu=str(CPU)), *lines)

    assert bound_at(found) == Model(CPU).run([as_modelled(line) for line in lines])


@st.composite
def anything(draw):
    """Nodes that come and go, priorities that evict, pods that restart or do not."""
    lines = [nodes("n", count=draw(st.integers(1, 3)))]
    time, pods = 0.0, []
    there = lines[0]["count"]
    for number in range(draw(st.integers(1, 25))):
        time += draw(st.sampled_from((0, 0, 0.3, 1, 7)))
        match draw(st.sampled_from(("arrive", "arrive", "arrive", "depart", "node", "remove"))):
            case "depart" if pods:
                lines.append(depart(pods.pop(draw(st.integers(0, len(pods) - 1))), time))
            case "node":
                lines.append(nodes(f"m{number}", cpu=str(draw(st.integers(1, 6))), time=time))
            case "remove" if there:
                there -= 1
                lines.append(remove_node(f"n-{there}", time))
            case _:
                pods.append(f"p{number}")
                lines.append(
                    arrive(
                        pods[-1], time, cpu=str(draw(st.integers(0, 5))),
                        priority=draw(st.integers(0, 3)),
                        duration=draw(st.sampled_from((None, 0, 0.5, 3, 40))),
                        restarts=draw(st.booleans()),
                    )
                )  # fmt: skip
    return lines


@given(lines=anything(), seed=st.integers(0, 3), attempt=st.sampled_from((0.0, 0.25)))
@examples(200)
def test_every_pod_ends_somewhere(lines, seed, attempt):
    """``replay`` checks after every moment that no node is over-committed."""
    found = replay(*lines, seed=seed, attempt_seconds=attempt)

    arrived = [line["name"] for line in lines if line["event"] == "arrive"]
    assert [life.arrival.name for life in found.lives] == arrived
    for life in found.lives:
        assert life.wait >= 0
        assert life.bound is None or life.bound >= life.arrived
        assert life.ended is None or life.ended >= (life.bound or 0)
        assert (life.bound is None) <= (life.fate in (Fate.PENDING, Fate.WITHDRAWN))
        assert (life.ended is None) == (life.fate in (Fate.PENDING, Fate.RUNNING))
    figures = found.figures()
    ends = (figures.pending, figures.running, figures.finished, figures.deleted,
            figures.withdrawn, figures.lost)  # fmt: skip
    assert sum(ends) == figures.arrivals == len(arrived)


@given(lines=anything(), seed=st.integers(0, 2**32 - 1))
@examples(50)
def test_the_same_seed_gives_the_same_bytes(lines, seed):
    first, second = (replay(*lines, seed=seed) for _ in range(2))

    assert msgspec.json.encode((first.figures(), first.samples())) == msgspec.json.encode(
        (second.figures(), second.samples())
    )
