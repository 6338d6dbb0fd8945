"""Users who lack a right of kube-scheduler: one line that names it, and no flood of requests.

What the scheduler asked for is read in the audit log of kube-apiserver.
"""

import contextlib
import itertools
from datetime import datetime

import pytest

from tests.support.control_plane.audit import audited_plane
from tests.support.control_plane.stage import PRIORITIES, Stage

pytestmark = pytest.mark.cluster

# A kind that can be done without is asked for again after five minutes, far beyond a test.
ONCE = 1
# The first pauses of an informer are 0.8 and 1.6 seconds at least; servers round times.
LEAST_PAUSE_SECONDS = 0.7

_numbers = itertools.count()


@pytest.fixture(scope="module")
def audited(binaries, tmp_path_factory):
    with audited_plane(binaries, tmp_path_factory.mktemp("audit")) as plane:
        yield plane


@pytest.fixture
def stage(audited):
    stage = Stage(audited.side, f"rights-{next(_numbers)}")
    yield stage
    stage.clear()


@contextlib.contextmanager
def standing(scheduler):
    """A scheduler that need not come to lead."""
    try:
        yield scheduler
    finally:
        scheduler.stop()


def paused(requests):
    """The shortest time between two requests."""
    times = [datetime.fromisoformat(each["requestReceivedTimestamp"]) for each in requests]
    return min((b - a).total_seconds() for a, b in itertools.pairwise(times))


@pytest.mark.parametrize(
    "kind",
    [
        "csistoragecapacities.storage.k8s.io",
        "poddisruptionbudgets.policy",
        "services",
        "storageclasses.storage.k8s.io",
    ],
)
def test_a_kind_it_can_do_without_is_one_warning(kind, audited, stage, podium, tmp_path):
    resource = kind.partition(".")[0]
    user = f"without-{resource}"
    with podium(tmp_path, audited.user_without(user, resource)) as scheduler:
        stage.nodes("a")  # a pod is bound to it

    (warning,) = scheduler.complaints
    assert f"cannot list {kind}: forbidden (grant list and watch on {kind}); " in warning
    assert f'cannot list resource "{resource}"' in warning
    assert "; continuing without " in warning
    assert len(audited.refused(user, resource)) == ONCE


def test_events_it_may_not_write_are_one_warning(audited, stage, podium, tmp_path):
    kubeconfig = audited.user_without("without-events", "events")
    with podium(tmp_path, kubeconfig) as scheduler:
        stage.nodes("a", "b", "c")

    (warning,) = scheduler.complaints
    assert "cannot write events: forbidden (grant create and patch on events)" in warning
    assert 'cannot create resource "events"' in warning


@pytest.mark.parametrize("resource", ["pods", "nodes"])
def test_a_kind_it_needs_is_one_error_and_asked_for_with_pauses(
    resource, audited, podium, tmp_path
):
    user = f"without-{resource}"
    kubeconfig = audited.user_without(user, resource)
    with standing(podium(tmp_path, kubeconfig)) as scheduler:
        scheduler.wait_until(lambda: len(audited.refused(user, resource)) >= 3)

    (error,) = scheduler.complaints
    assert f"ERROR podium.client.trouble cannot list {resource}: forbidden (grant list " in error
    assert "Traceback" not in scheduler.said
    assert paused(audited.refused(user, resource)) >= LEAST_PAUSE_SECONDS


def test_a_lease_it_may_not_read_is_one_error(audited, podium, tmp_path):
    user = "without-leases"
    kubeconfig = audited.user_without(user, "leases")
    with standing(podium(tmp_path, kubeconfig)) as scheduler:
        scheduler.wait_until(lambda: len(audited.refused(user, "leases")) >= 2)

    (error,) = scheduler.complaints
    assert "Error retrieving lease lock lock='kube-system/kube-scheduler'" in error
    assert 'cannot get resource "leases"' in error
    assert paused(audited.refused(user, "leases")) >= LEAST_PAUSE_SECONDS


def test_bindings_it_may_not_write_fail_with_backoff(audited, stage, podium, tmp_path):
    user = "without-bindings"
    kubeconfig = audited.user_without(user, "bindings", "pods/binding")
    with podium(tmp_path, kubeconfig) as scheduler:
        stage.pod("web")
        stage.ready_nodes("a")
        scheduler.wait_until(lambda: len(audited.refused(user, "pods")) >= 3)
        outcome = stage.outcome("web")

    (condition,) = outcome["conditions"]
    assert condition.startswith("False SchedulerError ")
    assert 'cannot create resource "pods/binding" in API group ""' in condition
    assert paused(audited.refused(user, "pods")) >= LEAST_PAUSE_SECONDS


def test_conditions_it_may_not_write_leave_the_events(audited, stage, podium, tmp_path):
    user = "without-conditions"
    with podium(tmp_path, audited.user_without(user, "pods/status")) as scheduler:
        stage.nodes("a")
        for name in ("one", "two", "three"):
            stage.pod(name, requests={"cpu": "9"})
            stage.until_told(name, "FailedScheduling")
        scheduler.wait_until(lambda: len(audited.refused(user, "pods")) >= 3)
        outcome = stage.outcome("three")

    (warning,) = scheduler.complaints
    assert 'cannot patch resource "pods/status"' in warning
    assert outcome["conditions"] == []


def test_victims_it_may_not_delete_are_asked_for_with_pauses(audited, stage, podium, tmp_path):
    user = "without-delete"
    for name, value in (("low", 10), ("high", 1000)):
        stage.create(PRIORITIES, {"metadata": {"name": name}, "value": value})
    with podium(tmp_path, audited.user_without(user, "delete pods")) as scheduler:
        stage.nodes("a", cpu="2")
        stage.pod("victim", requests={"cpu": "2"}, priorityClassName="low")
        stage.until_bound("victim")
        stage.pod("boss", requests={"cpu": "2"}, priorityClassName="high")
        scheduler.wait_until(lambda: len(audited.refused(user, "pods")) >= 3)

    assert 'cannot delete resource "pods"' in scheduler.said
    assert paused(audited.refused(user, "pods")) >= LEAST_PAUSE_SECONDS


def test_an_idle_scheduler_only_renews_its_lease(audited, podium, tmp_path):
    user = "idle"
    with podium(tmp_path, audited.user_without(user)) as scheduler:
        begun = len(audited.requests(user))
        scheduler.wait_until(lambda: len(audited.requests(user)) >= begun + 5)
        since = audited.requests(user)[begun:]

    renewals = [each for each in since if each["verb"] == "update"]
    assert {each["objectRef"]["resource"] for each in renewals} == {"leases"}
    assert paused(renewals) >= LEAST_PAUSE_SECONDS
