"""Jobs: completions, parallelism, failures, deadlines, indexes."""

import pytest

from podium.apiserver.controllers.job import wanted_active
from podium.apiserver.controllers.job_indexes import format_indexes, parse_indexes
from tests.apiserver.controllers.harness import World, node, template

JOBS = "jobs.batch"


@pytest.fixture
def world():
    made = World()
    made.create("nodes", node())
    return made


def job(annotations=None, **spec):
    pods = template(annotations or {}, restartPolicy="Never")
    return {"metadata": {"name": "sum"}, "spec": {"template": pods, **spec}}


def conditions(world):
    status = world.status(JOBS, "sum")
    return {one["type"]: one["reason"] for one in status.get("conditions", [])}


def rounds(world, count, seconds=7):
    for _ in range(count):
        world.bind_all()
        world.wait(seconds)


def test_a_job_completes(world):
    world.create(JOBS, job({"podium.dev/duration": "30s"}))
    assert world.status(JOBS, "sum")["active"] == 1

    world.run_all()
    assert world.status(JOBS, "sum")["ready"] == 1
    assert conditions(world) == {}
    world.wait(30)

    status = world.status(JOBS, "sum")
    assert status["succeeded"] == 1
    assert "active" not in status
    assert status["completionTime"]
    assert conditions(world) == {
        "SuccessCriteriaMet": "CompletionsReached",
        "Complete": "CompletionsReached",
    }
    assert world.phases() == ["Succeeded"]


def test_parallelism_and_completions(world):
    world.create(JOBS, job(completions=5, parallelism=2))
    assert len(world.pods()) == 2

    rounds(world, 3)

    assert world.status(JOBS, "sum")["succeeded"] == 5
    assert len(world.pods()) == 5


def test_pods_deleted_after_they_succeeded_stay_counted(world):
    world.create(JOBS, job(completions=2))
    rounds(world, 1)
    (name,) = [name for name, one in world.pods().items() if one["status"]["phase"] == "Succeeded"]

    world.delete("pods", name)
    rounds(world, 1)

    assert world.status(JOBS, "sum")["succeeded"] == 2


def test_failures_are_retried_with_growing_patience(world):
    world.create(JOBS, job({"podium.dev/exit-code": "1"}, backoffLimit=2))
    rounds(world, 1)
    assert world.status(JOBS, "sum")["failed"] == 1
    assert world.phases() == ["Failed"]

    world.wait(10)
    assert world.phases() == ["Failed", "Pending"]
    rounds(world, 12)

    assert world.status(JOBS, "sum")["failed"] == 3
    assert conditions(world)["Failed"] == "BackoffLimitExceeded"


def test_a_deadline_ends_a_job(world):
    world.create(JOBS, job({"podium.dev/duration": "1h"}, activeDeadlineSeconds=60))
    world.run_all()

    world.wait(60)

    assert conditions(world)["Failed"] == "DeadlineExceeded"
    assert world.pods() == {}


def test_suspend_and_resume(world):
    world.create(JOBS, job(suspend=True))
    assert world.pods() == {}

    world.change(JOBS, "sum", lambda obj: obj["spec"].update(suspend=False))

    assert len(world.pods()) == 1
    assert conditions(world)["Suspended"] == "JobResumed"


def test_finished_jobs_go_after_their_time(world):
    world.create(JOBS, job(ttlSecondsAfterFinished=100))
    rounds(world, 1)
    assert conditions(world)["Complete"]

    world.wait(100)

    assert world.names(JOBS) == []
    assert world.names("pods") == []


def test_indexed_jobs_run_each_index_once(world):
    world.create(JOBS, job(completionMode="Indexed", completions=3, parallelism=2))
    label = "batch.kubernetes.io/job-completion-index"
    assert {one["metadata"]["labels"][label] for one in world.pods().values()} == {"0", "1"}

    rounds(world, 2)

    assert world.status(JOBS, "sum")["completedIndexes"] == "0-2"
    assert conditions(world)["Complete"]


@pytest.mark.parametrize(
    ("spec", "succeeded", "active", "expected"),
    [
        pytest.param({"parallelism": 3, "completions": 5}, 0, 0, 3, id="as-many-as-allowed"),
        pytest.param({"parallelism": 3, "completions": 5}, 4, 1, 1, id="no-more-than-missing"),
        pytest.param({"parallelism": 3}, 0, 1, 3, id="queue-works"),
        pytest.param({"parallelism": 3}, 1, 2, 2, id="queue-ends"),
    ],
)
def test_wanted_active(spec, succeeded, active, expected):
    assert wanted_active(spec, succeeded, active) == expected


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([1], "1"),
        ([1, 2], "1,2"),
        ([1, 3, 4, 5, 7], "1,3-5,7"),
    ],
)
def test_indexes_as_text(numbers, text):
    assert format_indexes(numbers) == text
    assert parse_indexes(text) == set(numbers)
