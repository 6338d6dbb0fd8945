"""podium and kube-scheduler see the same pods come, fail and change: both show the same metrics."""

import re
import ssl
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from podium.release import V1_36
from tests.support.control_plane import processes, shipped, sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.cluster

# podium reuses the results of equal pods in another way, and does not count bytes.
NOT_HERE = re.compile(
    "scheduler_(batch|get_node_hint|store_schedule)_.+|rest_client_request_size_bytes"
)
# Not in every run: what is sampled, and what is summed up now and then.
CHANCE = ("scheduler_plugin_execution_duration_seconds", "scheduler_inflight_events")
EQUAL = ("scheduler_queue_incoming", "scheduler_pending_pods")
NEW = ("scheduler_queued_entities", "scheduler_queue_incoming_entities", "informer_queued_items")
# These are reported some time later: by one scheduler or by the other.
LATER = ('_seconds_count{extension_point="Bind"', "scheduler_unschedulable_pods{")


@pytest.fixture(scope="module")
def shown(binaries, tmp_path_factory):
    """The metrics of each scheduler after the same scene on a control plane of its own."""
    return {
        name: metrics_after_scene(binaries, start, tmp_path_factory.mktemp(name))
        for name, start in (("theirs", stock), ("ours", ours))
    }


OPEN = "--authorization-always-allow-paths=/metrics"


def stock(plane, side, folder, port):
    shipped.install(plane, side)  # both see the same objects
    user, flags = plane.kubeconfig_for(processes.USER), (f"--secure-port={port}", OPEN)
    try:
        return processes.kube_scheduler(plane.binaries, folder, user, *flags)
    except NoControlPlane as missing:
        pytest.skip(str(missing))


def ours(plane, side, folder, port):
    account, flags = shipped.install(plane, side), (f"--secure-port={port}", OPEN)
    return processes.deployed(folder, account, *flags, release=plane.binaries.release)


def metrics_after_scene(binaries, start, folder):
    port = processes.free_port()
    with ControlPlane(binaries) as plane:
        side = sides.real(plane)
        with start(plane, side, folder, port) as scheduler:
            play(Stage(side, "metrics"))
            scheduler.wait_until(lambda: all(map(scrape(port).__contains__, LATER)))
            text = scrape(port)
    return {family.name: family for family in text_string_to_metric_families(text)}


def play(stage):
    """A pod fits, one is gated, one is too large and changes."""
    stage.ready_nodes("a", "b")
    stage.pod("gated", schedulingGates=[{"name": "later"}])
    stage.pod("fits", requests={"cpu": "1"})
    stage.until_bound("fits")
    stage.pod("large", requests={"cpu": "64"})
    stage.until_told("large", "FailedScheduling")
    stage.patch(stage.core("pods/large"), {"metadata": {"labels": {"changed": "yes"}}})
    stage.delete(stage.core("pods/large"))
    stage.pod("last")
    stage.until_told("last", "Scheduled")


def scrape(port):
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE  # its own certificate
    with urllib.request.urlopen(f"https://127.0.0.1:{port}/metrics", context=trust) as answer:
        return answer.read().decode()


def described(family):
    stage = re.match(r"\[\w+\]", family.documentation)
    labels = {label for sample in family.samples for label in sample.labels}
    bounds = sorted(
        {float(sample.labels["le"]) for sample in family.samples if "le" in sample.labels}
    )
    return family.type, stage and stage[0], labels, bounds


def schedulers(families):
    names = ("scheduler_", "informer_", "leader_election_", "rest_client_request")
    return {name for name in families if name.startswith(names) and name not in CHANCE}


def test_names(shown):
    theirs = {name for name in schedulers(shown["theirs"]) if not NOT_HERE.fullmatch(name)}

    assert schedulers(shown["ours"]) == theirs


def test_types_stages_labels_and_buckets(shown):
    both = schedulers(shown["ours"]) & schedulers(shown["theirs"])
    found = {
        side: {name: described(shown[side][name]) for name in both} for side in ("ours", "theirs")
    }

    assert found["ours"] == found["theirs"]


def values(families, prefixes):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for name, family in families.items()
        if name.startswith(prefixes)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_counts_of_the_queue(shown):
    assert values(shown["ours"], EQUAL) == values(shown["theirs"], EQUAL)


def test_events_have_the_same_names(shown):
    """Events that no plugin registered have none, such as those of disruption budgets."""

    def events(families):
        seconds = families["scheduler_event_handling_duration_seconds"]
        return {sample.labels["event"] for sample in seconds.samples}

    assert events(shown["ours"]) == events(shown["theirs"])


def test_new_metrics_are_new(shown, binaries):
    is_there = binaries.release > V1_36

    assert [name in shown["ours"] for name in NEW] == [is_there] * len(NEW)
