"""How quotas are compared and counted, and the status of an ElasticQuota."""

import pytest

from podium.logs import get_logger
from podium.scheduler_plugins.capacity_scheduling.quotas import Quota, Quotas, Usage, request_of
from podium.status_controllers.elastic_quotas import changed_status, requests_of
from podium.testing import pod
from podium.testing.handle import FakeLister

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("limit", "used", "more", "is_over"),
    [
        (None, {"cpu": 10**18}, {GPU: 1}, False),
        ({"cpu": 4}, {"cpu": 3}, {"cpu": 1}, False),
        ({"cpu": 4}, {"cpu": 3}, {"cpu": 2}, True),
        ({"cpu": 4}, {"cpu": 5}, {}, True),  # whatever it asks for
        ({"cpu": 4}, {}, {"memory": 1}, True),  # not listed: nothing is allowed
        ({"cpu": 4}, {}, {GPU: 9}, False),  # not listed: anything is allowed
        ({GPU: 2}, {GPU: 1}, {GPU: 2}, True),
        ({GPU: 2}, {GPU: 3}, {"cpu": 0}, False),  # only what the pod asks for is compared
    ],
)
def test_maximum(limit, used, more, is_over):
    assert Quota({}, limit).is_over_max(used, more) is is_over


@pytest.mark.parametrize(
    ("promised", "used", "more", "is_over"),
    [
        ({}, {}, None, False),
        ({}, {"cpu": 1}, None, True),
        ({"cpu": 2}, {"cpu": 2}, None, False),
        ({"cpu": 2}, {"cpu": 2}, {"cpu": 1}, True),
        ({"cpu": 2}, {"cpu": 1, GPU: 1}, None, True),  # not listed: nothing is promised
        ({"cpu": 2}, {"cpu": 1, GPU: 1}, {"cpu": 1}, False),
        ({"cpu": 2}, {}, {GPU: 1}, True),
    ],
)
def test_minimum(promised, used, more, is_over):
    assert Quota(promised, None).is_over_min(used, more) is is_over


def container(**requests):
    return {"name": "c", "image": "app", "resources": {"requests": requests}}


def test_what_a_pod_requests():
    made = pod(
        containers=[container(cpu="2", memory="1G"), container(cpu="1", memory="1G")],
        init_containers=[container(cpu="2", memory="1G"), container(cpu="2", memory="3G")],
        overhead={"cpu": "100m"},
    )

    assert request_of(made) == {"cpu": 3100, "memory": 3 * 10**9}
    assert requests_of(made) == {"cpu": "3", "memory": "3G"}  # as upstream, without overhead


def stored(name, created, spec, namespace="a"):
    meta = {"name": name, "namespace": namespace, "uid": name, "creationTimestamp": created}
    return {"metadata": meta, "spec": spec}


def test_the_oldest_quota_of_a_namespace_counts():
    objects = {
        "a/second": stored("second", "2026-01-02T00:00:00Z", {"max": {"cpu": 1}}),
        "a/first": stored("first", "2026-01-01T00:00:00Z", {"min": {"cpu": "2"}}),
        "b/bad": stored("bad", "2026-01-01T00:00:00Z", {"min": {"cpu": "lots"}}, "b"),
    }
    quotas = Quotas(FakeLister(objects), get_logger("test"))

    assert quotas.by_namespace() == {"a": Quota({"cpu": 2000}, None)}
    del objects["a/first"]
    assert quotas.by_namespace() == {"a": Quota({}, {"cpu": 1000})}


def test_usage_follows_the_watch_and_reservations():
    usage = Usage()
    waiting, bound = pod("p", cpu="2"), pod("p", cpu="2", node="n1")
    resized = pod("p", cpu="3", node="n1")

    usage.reserve(waiting)
    assert usage.of("default") == {"cpu": 2000}
    usage.unreserve(waiting)
    assert usage.of("default") == {"cpu": 0}
    usage.reserve(waiting)
    usage.on_pod(waiting, None)  # deleted while it is being bound
    assert usage.of("default") == {"cpu": 0}
    usage.unreserve(waiting)  # and so the binding fails
    assert usage.of("default") == {"cpu": 0}
    usage.reserve(waiting)
    usage.on_pod(waiting, bound)
    usage.unreserve(waiting)  # the answer to the binding was lost, and it is bound
    assert usage.of("default") == {"cpu": 2000}
    usage.on_pod(bound, resized)
    assert usage.of("default") == {"cpu": 3000}
    usage.on_pod(resized, None)
    assert usage.of("default") == {"cpu": 0}


@pytest.mark.parametrize(
    ("before", "running", "expected"),
    [
        (None, [], {"used": {"cpu": "0", "memory": "0"}}),
        ({"cpu": "0", "memory": "0"}, [], {}),
        (
            {"cpu": "0", "memory": "0"},
            [{"cpu": "500m", "memory": "1Gi"}, {"cpu": "1500m", "memory": "512Mi"}],
            {"used": {"cpu": "2", "memory": "1536Mi"}},
        ),
        ({"cpu": "2000m", "memory": "0"}, [{"cpu": "2"}], {}),
        ({"cpu": "0", "memory": "0"}, [{GPU: "1"}], {"used": {GPU: "1"}}),
        ({"cpu": "0", "memory": "0", GPU: "1"}, [], {"used": {GPU: None}}),
    ],
)
def test_status(before, running, expected):
    quota = {"metadata": {}, "spec": {"min": {"cpu": 1}, "max": {"memory": "1Gi"}}}
    if before is not None:
        quota["status"] = {"used": before}

    assert changed_status(quota, running) == expected
