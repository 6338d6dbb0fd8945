"""Metrics as Prometheus reads them: names, labels and buckets as kube-scheduler prints them."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from podium.metric_declarations import (
    ATTEMPT_BUCKETS,
    HINT_BUCKETS,
    PLUGIN_BUCKETS,
    SLI_BUCKETS,
)
from podium.metric_families import Counter, Declaration, Gauge, Histogram
from podium.metrics import Metrics
from podium.release import RELEASES, V1_36, V1_37

DATA = Path(__file__).parent / "data"


def printed(metrics):
    """``{'name{label="value"}': number}`` for every sample that a scrape gets."""
    return {
        named(sample.name, **sample.labels): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def named(name, /, **labels):
    listed = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{listed}}}" if listed else name


def of_podium(samples):
    return {name for name in samples if not name.startswith(("process_", "python_"))}


def test_only_metrics_without_labels_show_from_the_start():
    plain = {name.partition("{")[0] for name in of_podium(printed(Metrics()))}

    assert plain == {
        "scheduler_pod_scheduled_after_flush_total",
        "scheduler_preemption_attempts_total",
        *histogram("scheduler_pod_scheduling_attempts"),
        *histogram("scheduler_preemption_victims"),
        *histogram("scheduler_scheduling_algorithm_duration_seconds"),
    }


def histogram(name):
    return {f"{name}_bucket", f"{name}_sum", f"{name}_count"}


# --- releases -------------------------------------------------------------------------------------

# kube-scheduler shows these, and podium has nothing to say about them.
NOT_HERE = {"rest_client_request_size_bytes"}


def recorded(release):
    """The metrics of kube-scheduler after a few pods: name, type, stage, labels, buckets."""
    rows = (DATA / f"metrics-{release}.txt").read_text().splitlines()
    return {name: rest for name, *rest in (row.split("\t") for row in rows)}


def described(family, release):
    declared = family.declared
    bounds = " ".join(f"{bound:g}" for bound in (*declared.buckets, math.inf))
    labels = ",".join(sorted(declared.labels))
    parts = (family.kind, declared.stage_in(release), labels, bounds.replace("inf", "+Inf"))
    return list(parts if family.kind == "histogram" else parts[:-1])


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_metrics_are_those_of_kube_scheduler(release):
    ours = {
        each.declared.name: described(each, release) for each in Metrics(release=release).families()
    }
    theirs = {
        name: [*rest, ""][: len(ours.get(name, rest))] for name, rest in recorded(release).items()
    }

    assert {name: ours[name] for name in theirs if name not in NOT_HERE} == {
        name: rest for name, rest in theirs.items() if name not in NOT_HERE
    }


def test_what_one_release_has_and_the_other_does_not():
    old, new = (
        {each.declared.name for each in Metrics(release=release).families()} for release in RELEASES
    )

    assert old - new == {
        "scheduler_preemption_goroutines_duration_seconds",
        "scheduler_resourceclaim_creates_total",
    }
    assert new - old == {
        "dynamic_resource_allocation_resourceclaim_creates_total",
        "informer_processing_latency_seconds",
        "informer_queued_items",
        "informer_store_resource_version",
        "scheduler_batch_rescore_attempts_total",
        "scheduler_batch_rescore_duration_seconds",
        "scheduler_pre_queueing_hint_evaluations_total",
        "scheduler_queue_incoming_entities_total",
        "scheduler_queued_entities",
    }


@pytest.mark.parametrize(
    ("release", "shows_hidden", "help_text"),
    [
        pytest.param(V1_36, False, "[ALPHA] Duration of", id="not-deprecated-yet"),
        pytest.param(V1_37, False, None, id="hidden"),
        pytest.param(V1_37, True, "[ALPHA] (Deprecated since 1.37.0) Duration of", id="on-demand"),
    ],
)
def test_a_deprecated_metric(release, shows_hidden, help_text):
    metrics = Metrics(release=release, shows_hidden=shows_hidden)
    metrics.evicted("success", 0.1)
    line = "# HELP scheduler_preemption_goroutines_duration_seconds "

    shown = [
        text.removeprefix(line) for text in metrics.text().decode().splitlines() if line in text
    ]
    assert [text[: len(help_text or "")] for text in shown] == ([help_text] if help_text else [])


@pytest.mark.parametrize(("release", "stage"), [(V1_36, "ALPHA"), (V1_37, "BETA")], ids=str)
def test_a_stage_may_change(release, stage):
    text = Metrics(release=release).text().decode()

    assert f"# HELP scheduler_scheduling_algorithm_duration_seconds [{stage}] Duration" in text


def test_entities_are_counted_unless_hints_sent_them():
    metrics = Metrics()
    for _ in range(2):
        metrics.incoming("active", "NodeAdd")
        metrics.incoming("backoff", "NodeAdd")
        metrics.as_hinted("backoff", "NodeAdd")
    assert metrics.incoming_pods.series() == {("active", "NodeAdd"): 2, ("backoff", "NodeAdd"): 2}
    assert metrics.incoming_entities.series() == {("active", "NodeAdd", "pod"): 2}

    metrics.reset()
    assert metrics.incoming_entities.series() == {}
    metrics.incoming("active", "NodeAdd")
    assert metrics.incoming_entities.series() == {("active", "NodeAdd", "pod"): 1}


def test_the_process_is_measured_too():
    names = {name.partition("{")[0] for name in printed(Metrics())}

    assert {"process_cpu_seconds_total", "process_start_time_seconds"} <= names
    assert {"process_resident_memory_bytes", "python_gc_collections_total"} <= names


def test_an_attempt_is_counted_and_timed():
    metrics = Metrics()

    metrics.observe_attempt("batch", "scheduled", 0.003)
    metrics.observe_attempt("batch", "scheduled", 20)

    samples = printed(metrics)
    labels = {"result": "scheduled", "profile": "batch"}
    seconds = "scheduler_scheduling_attempt_duration_seconds"
    buckets = [
        samples[named(f"{seconds}_bucket", **labels, le=bound)]
        for bound in ("0.002", "0.004", "16.384", "+Inf")
    ]
    assert buckets == [0, 1, 1, 2]
    assert samples[named("scheduler_schedule_attempts_total", **labels)] == 2
    assert samples[named(f"{seconds}_count", **labels)] == 2
    assert samples[named(f"{seconds}_sum", **labels)] == pytest.approx(20.003)


@pytest.mark.parametrize(
    ("attempts", "label"),
    [
        pytest.param(1, "1", id="first"),
        pytest.param(14, "14", id="last-told-apart"),
        pytest.param(15, "15+", id="many"),
        pytest.param(400, "15+", id="very-many"),
    ],
)
def test_a_bound_pod_is_counted_by_its_attempts(attempts, label):
    metrics = Metrics()

    metrics.bound(attempts, 0.5, after_flush=False)

    assert list(metrics.sli_seconds.series()) == [(label,)]
    samples = printed(metrics)
    assert samples["scheduler_pod_scheduling_attempts_sum"] == attempts
    assert samples["scheduler_pod_scheduled_after_flush_total"] == 0


def test_a_pod_whose_first_entry_is_unknown_has_no_time_in_the_queue():
    metrics = Metrics()

    metrics.bound(1, None, after_flush=True)

    assert metrics.sli_seconds.series() == {}
    assert printed(metrics)["scheduler_pod_scheduled_after_flush_total"] == 1


def test_labels_stand_where_they_belong():
    metrics = Metrics()

    metrics.point("batch", "PreBind", "Success", 0.1)
    metrics.plugin("NodeName", "Filter", "Skip", 0.1)
    metrics.evaluations.inc("NodeName", "Filter", "batch", by=5000)
    metrics.incoming("active", "NodeAdd")
    metrics.request("127.0.0.1:1", "GET", 200, 0.1)
    metrics.request("127.0.0.1:1", "PUT", 0, 0.1)

    host = "127.0.0.1:1"
    node_name = {"plugin": "NodeName", "extension_point": "Filter"}
    point = {"extension_point": "PreBind", "status": "Success", "profile": "batch"}
    samples = printed(metrics)
    for name in (
        named("scheduler_framework_extension_point_duration_seconds_count", **point),
        named("scheduler_plugin_execution_duration_seconds_count", **node_name, status="Skip"),
        named("scheduler_queue_incoming_pods_total", queue="active", event="NodeAdd"),
        named("rest_client_requests_total", code="200", method="GET", host=host),
        named("rest_client_requests_total", code="<error>", method="PUT", host=host),
        named("rest_client_request_duration_seconds_count", verb="GET", host=host),
    ):
        assert samples[name] == 1
    assert samples[named("scheduler_plugin_evaluation_total", **node_name, profile="batch")] == 5000


def test_gauges_can_be_asked_for_when_they_are_printed():
    metrics = Metrics()
    waiting = {"active": 2, "gated": 1}
    metrics.pending_pods.read_from(lambda: waiting)

    assert printed(metrics)['scheduler_pending_pods{queue="active"}'] == 2
    waiting["active"] = 5
    assert printed(metrics)['scheduler_pending_pods{queue="active"}'] == 5


def test_reset_keeps_gauges():
    metrics = Metrics()
    metrics.observe_attempt("batch", "error", 1)
    metrics.preemption_attempts.inc()
    metrics.unschedulable_pods.add(2, "NodeName", "batch")
    metrics.leading.set(1, "kube-scheduler")

    metrics.reset()

    samples = printed(metrics)
    assert not any("attempts_total{" in name for name in samples)
    assert samples["scheduler_preemption_attempts_total"] == 0
    assert samples['scheduler_unschedulable_pods{plugin="NodeName",profile="batch"}'] == 2
    assert samples['leader_election_master_status{name="kube-scheduler"}'] == 1


def test_a_counter_may_be_read_from_who_counts_anyway():
    counter = Counter(Declaration("calls_total", "Calls.", ("of",)))
    counted = {("a",): 3}
    counter.read_from(counted.copy)
    assert counter.series() == {("a",): 3}

    counter.reset()
    counted |= {("a",): 5, ("b",): 1}
    assert counter.series() == {("a",): 2, ("b",): 1}


def test_schedulers_in_one_process_do_not_meet():
    one, other = Metrics(), Metrics()

    one.incoming("active", "NodeAdd")

    assert other.incoming_pods.series() == {}


@pytest.mark.parametrize(
    ("chance", "sampled"), [(0.0, True), (0.0999, True), (0.1, False), (0.99, False)]
)
def test_one_cycle_in_ten_times_its_plugins(chance, sampled):
    assert Metrics(chance=lambda: chance).samples_plugins() == sampled


@pytest.mark.parametrize(
    ("buckets", "count", "first", "last"),
    [
        pytest.param(ATTEMPT_BUCKETS, 15, 0.001, 16.384, id="attempt"),
        pytest.param(PLUGIN_BUCKETS, 20, 0.00001, 0.022168378200531006, id="plugin"),
        pytest.param(SLI_BUCKETS, 20, 0.01, 5242.88, id="sli"),
        pytest.param(HINT_BUCKETS, 12, 0.00001, 0.02048, id="hint"),
    ],
)
def test_buckets(buckets, count, first, last):
    assert (len(buckets), buckets[0]) == (count, first)
    assert buckets[-1] == pytest.approx(last, rel=1e-9)


@pytest.mark.parametrize("kind", [Counter, Gauge, Histogram])
@pytest.mark.parametrize("labels", [(), ("a", "b")], ids=["missing", "too-many"])
def test_wrong_labels_are_refused(kind, labels):
    family = kind(Declaration("some_metric", "", ("one",)))

    with pytest.raises(ValueError, match="some_metric has the labels one"):
        observe(family, 1, labels)


def observe(family, value, labels):
    match family:
        case Counter():
            family.inc(*labels, by=value)
        case Gauge():
            family.set(value, *labels)
        case Histogram():
            family.observe(value, *labels)


@given(st.lists(st.floats(0, 100)))
def test_buckets_count_what_is_not_above_their_bound(values):
    bounds = (0.5, 1.0, 2.0, 50.0)
    family = Histogram(Declaration("some_seconds", "", (), bounds))

    for value in values:
        family.observe(value)

    counts = {s.labels["le"]: s.value for s in family.to_prometheus().samples if "le" in s.labels}
    expected = {str(bound): sum(value <= bound for value in values) for bound in bounds}
    assert counts == expected | {"+Inf": len(values)}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-5, 5))))
def test_a_gauge_is_the_sum_of_its_changes(changes):
    family = Gauge(Declaration("some_pods", "", ("queue",)))

    for queue, change in changes:
        family.add(change, queue)

    names = {queue for queue, _ in changes}
    assert family.series() == {
        (name,): sum(change for queue, change in changes if queue == name) for name in names
    }
