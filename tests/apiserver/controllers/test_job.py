"""Jobs: completions, parallelism, failures, deadlines, indexes."""

import pytest

from podium.apiserver.controllers.job import wanted_active
from podium.apiserver.controllers.job_pods import format_indexes, judge, parse_indexes
from tests.support.controllers import template

JOBS = "jobs.batch"


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


def policy(action, **rule):
    return {"podFailurePolicy": {"rules": [{"action": action, **rule}]}}


CODES = {"onExitCodes": {"operator": "In", "values": [42]}}
OTHERS = {"onExitCodes": {"operator": "NotIn", "values": [7, 8]}}
DISTURBED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def failed_pod(code, name="c", condition=""):
    states = [{"name": name, "state": {"terminated": {"exitCode": code}}}]
    conditions = [{"type": condition, "status": "True"}] if condition else []
    status = {"containerStatuses": states, "conditions": conditions}
    return {"metadata": {"namespace": "default", "name": "p"}, "status": status}


@pytest.mark.parametrize(
    ("pod", "rule", "expected"),
    [
        pytest.param(failed_pod(42), CODES, "FailJob", id="listed"),
        pytest.param(failed_pod(1), CODES, "Count", id="not-listed"),
        pytest.param(failed_pod(1), OTHERS, "FailJob", id="not-among"),
        pytest.param(failed_pod(7), OTHERS, "Count", id="among"),
        pytest.param(failed_pod(0), OTHERS, "Count", id="success-is-no-failure"),
        pytest.param(
            failed_pod(42, "sidecar"),
            {"onExitCodes": {**CODES["onExitCodes"], "containerName": "c"}},
            "Count",
            id="another-container",
        ),
        pytest.param(failed_pod(1, condition="DisruptionTarget"), DISTURBED, "FailJob", id="hit"),
        pytest.param(failed_pod(1, condition="Ready"), DISTURBED, "Count", id="not-disturbed"),
    ],
)
def test_what_a_failure_means(pod, rule, expected):
    assert judge(pod, policy("FailJob", **rule)["podFailurePolicy"]).action == expected


def test_the_first_rule_that_fits_decides():
    rules = [{"action": "Ignore", **CODES}, {"action": "FailJob", **CODES}]

    assert judge(failed_pod(42), {"rules": rules}).action == "Ignore"


def test_a_failure_can_end_the_job_at_once(world):
    world.create(JOBS, job({"podium.dev/exit-code": "42"}, **policy("FailJob", **CODES)))
    rounds(world, 1)

    (failed,) = world.pods()
    (ended,) = [c for c in world.status(JOBS, "sum")["conditions"] if c["type"] == "Failed"]
    assert ended["reason"] == "PodFailurePolicy"
    assert ended["message"] == (
        f"Container c for pod default/{failed} failed with exit code 42 "
        "matching FailJob rule at index 0"
    )


def test_a_failure_can_be_ignored(world):
    spec = {"backoffLimit": 0, **policy("Ignore", **CODES)}
    world.create(JOBS, job({"podium.dev/exit-code": "42"}, **spec))
    rounds(world, 8)

    assert "failed" not in world.status(JOBS, "sum")
    assert conditions(world) == {}
    assert len(world.pods()) > 1


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


def indexed(**spec):
    return job(
        {"podium.dev/exit-code": "42"},
        completionMode="Indexed",
        completions=2,
        parallelism=2,
        **spec,
    )


def test_each_index_has_failures_of_its_own(world):
    world.create(JOBS, indexed(backoffLimitPerIndex=1))
    rounds(world, 12)

    status = world.status(JOBS, "sum")
    assert (status["failed"], status["failedIndexes"]) == (4, "0,1")
    assert conditions(world)["Failed"] == "FailedIndexes"
    assert world.get(JOBS, "sum")["spec"]["backoffLimit"] == 2147483647
    counts = [
        one["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"]
        for one in world.pods().values()
    ]
    assert sorted(counts) == ["0", "0", "1", "1"]


def test_too_many_failed_indexes_end_the_job(world):
    world.create(JOBS, indexed(backoffLimitPerIndex=0, maxFailedIndexes=1))
    rounds(world, 3)

    assert conditions(world)["Failed"] == "MaxFailedIndexesExceeded"


def test_a_failure_can_end_its_index(world):
    world.create(JOBS, indexed(backoffLimitPerIndex=5, **policy("FailIndex", **CODES)))
    rounds(world, 3)

    assert world.status(JOBS, "sum")["failedIndexes"] == "0,1"
    assert world.status(JOBS, "sum")["failed"] == 2


def test_other_indexes_go_on(world):
    world.create(JOBS, {**indexed(backoffLimitPerIndex=0)})
    for name, one in world.pods().items():
        label = "batch.kubernetes.io/job-completion-index"
        if one["metadata"]["labels"][label] == "1":
            good = {"podium.dev/exit-code": "0", "podium.dev/duration": "60s"}
            world.change(
                "pods", name, lambda obj, good=good: obj["metadata"]["annotations"].update(good)
            )
    rounds(world, 3)
    assert world.status(JOBS, "sum")["failedIndexes"] == "0"
    assert conditions(world) == {}

    rounds(world, 10)

    assert world.status(JOBS, "sum")["completedIndexes"] == "1"
    assert conditions(world)["Failed"] == "FailedIndexes"


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
