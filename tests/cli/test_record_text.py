"""Records as people read them."""

import pytest

from podium.api.times import micro_time_text
from podium.cli import record_text
from podium.live import answer_values as values

NOW = 1_700_000_100.0
THEN = "2023-11-14T22:13:20.000000Z"  # 100 seconds before


def scored(node, total, *scores):
    made = tuple(
        values.PluginScore(plugin=plugin, raw=raw, normalized=normalized, weight=weight)
        for plugin, raw, normalized, weight in scores
    )
    return values.NodeScore(node=node, total=total, scores=made)


def attempt(**fields):
    usual = {"attempt": 1, "at": THEN, "profile": "p", "nodes": 3, "feasible": 2}
    return values.Attempt(**{**usual, **fields})


def queued(**fields):
    usual = {"pod": "default/web", "queue": "unschedulable", "since": THEN, "attempts": 2}
    return values.QueuedPodState(**{**usual, "profile": "p", **fields})


def records(state="placed", **fields):
    return values.PodRecords(pod="default/web", state=state, **fields)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        pytest.param(
            records(node="a", attempts=(attempt(node="a"),)),
            "default/web is on a: 2 of 3 nodes fit, and it has the highest total.",
            id="highest-total",
        ),
        pytest.param(
            records(node="a", attempts=(attempt(node="a", tied=2),)),
            "default/web is on a: 2 of 3 nodes fit, 2 share the highest total, and a hash decided "
            "among them.",
            id="tie",
        ),
        pytest.param(
            records(node="a", attempts=(attempt(node="a", feasible=1),)),
            "default/web is on a: it was the only one of 3 nodes that fits.",
            id="lone-node",
        ),
        pytest.param(records(node="a"), "default/web is on a.", id="placed-by-others"),
        pytest.param(
            records("unschedulable", attempts=(attempt(message="0/3 nodes are available."),)),
            "default/web is pending: 0/3 nodes are available.",
            id="pending",
        ),
        pytest.param(records("active"), "default/web is next to be tried.", id="active"),
        pytest.param(
            records("gated", queued=queued(queue="gated", gated_by="G")),
            "default/web is held back by G and is not tried.",
            id="gated",
        ),
        pytest.param(
            records("waiting", node="a", waiting=values.WaitingPodState(
                pod="default/web", node="a", plugins=("X", "Y"))),
            "default/web has a and waits for permission of X, Y.",
            id="waiting",
        ),
        pytest.param(records("not ours"), "default/web names another scheduler.", id="not-ours"),
        pytest.param(records("gone"), "default/web is gone.", id="gone"),
    ],
)  # fmt: skip
def test_one_sentence(found, sentence):
    assert record_text.pod_sentence(found) == sentence


def test_where_a_pod_waits():
    wakes = (values.Waking(plugin="Fit", events=("Node Add", "AssignedPod Delete")),)
    found = records(
        "unschedulable",
        queued=queued(
            rejected_by=("Fit",), retried_at="2023-11-14T22:18:20.000000Z", woken_by=wakes
        ),
        nominated_node="a",
    )

    assert record_text.queue_lines(found, NOW, with_events=True) == [
        "",
        "Queue:",
        "  unschedulable since 22:13:20 (1m40s ago), tried 2 times",
        "  rejected by Fit",
        "  without any event it is tried again in 3m20s",
        "",
        "Tried again when:",
        "  Fit: Node Add, AssignedPod Delete",
        "",
        "Nominated:",
        "  preemption makes room on a",
    ]


def test_an_attempt_in_full():
    best = (
        scored("a", 207, ("Fit", 7, 7, 1), ("Taint", 0, 100, 2)),
        scored("b", 5, ("Fit", 5, 5, 1), ("Taint", 3, 0, 2)),
    )
    refusals = (values.Refusal(plugin="Zone", reason="wrong zone", nodes=1),)
    found = attempt(node="a", best=best, refusals=refusals, detailed=True)

    assert record_text.attempt_lines([found]) == [
        "",
        f"Attempt 1 at {THEN}:",
        "  2 of 3 nodes fit; a was chosen",
        "  Zone refused 1: wrong zone",
        "  a: 207 = Fit 7 + Taint 100 x 2 (raw 0)",
        "  b: 5 = Fit 5",
    ]


def test_a_preemption():
    found = attempt(feasible=0, message="none", nominated_node="a", victims=("default/old",))

    assert record_text.attempt_lines([found])[3:] == [
        "  preemption evicts on a: default/old",
        "  verdicts and scores of single nodes were not recorded in this attempt",
    ]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        pytest.param({"verdict": "chosen"}, "b was chosen", id="chosen"),
        pytest.param(
            {"verdict": "refused", "plugin": "F", "reasons": ("x", "y")},
            "b was refused by F: x, y",
            id="refused",
        ),
        pytest.param(
            {"verdict": "feasible", "score": scored("b", 5, ("F", 5, 5, 1)), "rank": 3,
             "behind": 4},
            "b fits; rank 3: 5 = F 5, 4 less than a",
            id="behind",
        ),
        pytest.param(
            {"verdict": "feasible", "score": scored("b", 5, ("F", 5, 5, 1)), "rank": 1},
            "b fits; rank 1: 5 = F 5, as a",
            id="tied",
        ),
        pytest.param({"verdict": "feasible"}, "b fits", id="not-scored"),
        pytest.param({"verdict": "not examined"}, "b was not examined", id="not-examined"),
        pytest.param({"verdict": "no such node"}, "b was not there", id="not-there"),
        pytest.param(
            {"verdict": "not recorded"},
            "what was said about b was not recorded in this attempt",
            id="not-recorded",
        ),
    ],
)  # fmt: skip
def test_what_was_said_about_a_node(fields, line):
    assert record_text.on_node_line(values.OnNode(node="b", **fields), "a") == line


def test_the_last_attempts_in_brief():
    tried = [attempt(attempt=number, message=f"no {number}") for number in (1, 2, 3, 4, 5)]

    assert record_text.brief_lines(tried) == [
        "",
        "Attempts:",
        "  5 at 22:13:20: no 5",
        "  4 at 22:13:20: no 4",
        "  3 at 22:13:20: no 3",
        "  and 2 before; --attempt N shows one in full",
    ]


def test_the_whole_queue():
    found = values.QueueRecords(
        active=3, backoff=0, unschedulable=1, gated=0, in_flight=2,
        pods=(queued(queue="active", attempts=0, priority=5), queued(rejected_by=("F",))), limit=1,
    )  # fmt: skip

    assert record_text.queue_overview(found, NOW) == [
        "3 active, 0 backing off, 1 unschedulable, 0 gated; 2 being tried or bound.",
        "",
        "Active, next to be tried:",
        "  default/web: since 22:13:20 (1m40s ago), not tried yet, priority 5",
        "  and 2 more",
        "",
        "Unschedulable, waiting for an event:",
        "  default/web: since 22:13:20 (1m40s ago), tried 2 times, rejected by F",
    ]


def test_groups_of_the_queue():
    """Only what is known about each: one has no PodGroup, another has too few pods."""
    later = micro_time_text(NOW + 3)
    groups = (
        gang("training", wanted=4, size=5, placed=1, queued=queued(backoff_until=later)),
        gang("few", wanted=3, size=1, message="nothing fits"),
        gang("lost", wanted=0, size=1, queued=queued(queue="incomplete")),
    )
    found = values.QueueRecords(
        active=0, backoff=4, unschedulable=0, gated=1, incomplete=1, in_flight=0, groups=groups
    )

    assert record_text.queue_overview(found, NOW)[0] == (
        "0 active, 4 backing off, 0 unschedulable, 1 gated, 1 without their PodGroup; "
        "0 being tried or bound."
    )
    assert record_text.queue_overview(found, NOW)[-4:] == [
        "Groups:",
        (
            "  default/training: 1 of 5 pods placed, needs 4 at once, unschedulable, tried 2 "
            "times, backs off for another 3s"
        ),
        "  default/few: 0 of 1 pods placed, needs 3 at once, waits for 2 more, nothing fits",
        "  default/lost: 0 of 1 pods placed, there is no such PodGroup",
    ]


def gang(name, placed=0, **facts):
    return values.GroupState(
        group=f"default/{name}",
        kind="PodGroup.scheduling.k8s.io",
        placed=placed,
        members=(),
        **facts,
    )
