import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api import quantity
from podium.api.objects import Node, Pod, decode
from podium.api.resources import (
    HELD_IN_SUM,
    WRITTEN,
    allocatable,
    amounts,
    held_requests,
    host_ports,
    is_held,
    non_zero,
    pod_requests,
    request_rule,
)
from podium.release import V1_36, V1_37


def container(name="c", *, always=False, **requests):
    requests = {key.replace("_", "-"): amount for key, amount in requests.items()}
    policy = {"restartPolicy": "Always"} if always else {}
    return {"name": name, "resources": {"requests": requests}, **policy}


def pod(*containers, init=(), status=None, **spec):
    spec = {"containers": list(containers), "initContainers": list(init), **spec}
    return decode(Pod, {"metadata": {"name": "p"}, "spec": spec, "status": status or {}})


def holding(requests, allocated=None, name="c"):
    status = {"name": name, "resources": {"requests": requests}}
    return {"containerStatuses": [{**status, "allocatedResources": allocated or {}}]}


INFEASIBLE = {"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}]}
DEFERRED = {
    "conditions": [
        {"type": "PodResizePending", "reason": "Deferred"},
        {"type": "PodResizePending", "reason": "Infeasible"},
    ]
}


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param(pod(), {}, id="no-containers"),
        pytest.param(pod(container()), {}, id="no-requests"),
        pytest.param(pod(container(cpu="0")), {"cpu": 0}, id="zero-stays"),
        pytest.param(
            pod(container(cpu="100m", memory="1Gi")), {"cpu": 100, "memory": 2**30}, id="one"
        ),
        pytest.param(pod(container(cpu="1"), container(cpu="500m")), {"cpu": 1500}, id="sum"),
        pytest.param(
            pod(container(cpu="0.5m"), container(cpu="0.5m")), {"cpu": 2}, id="rounded-on-arrival"
        ),
        pytest.param(
            pod(container(memory="0.5"), container(memory="0.5")), {"memory": 1}, id="total-rounded"
        ),
        pytest.param(
            pod(container(cpu="1"), init=[container(cpu="3"), container(cpu="2")]),
            {"cpu": 3000},
            id="largest-init-container",
        ),
        pytest.param(
            pod(container(cpu="4"), init=[container(cpu="3")]), {"cpu": 4000}, id="init-smaller"
        ),
        pytest.param(
            pod(container(cpu="1"), init=[container(cpu="2", always=True)]),
            {"cpu": 3000},
            id="sidecar-adds",
        ),
        pytest.param(
            pod(
                container(cpu="1"),
                init=[container(cpu="2", always=True), container(cpu="5"), container(cpu="1")],
            ),
            {"cpu": 7000},
            id="init-after-sidecar",
        ),
        pytest.param(
            pod(
                container(cpu="1"),
                init=[container(cpu="5"), container(cpu="2", always=True)],
            ),
            {"cpu": 5000},
            id="init-before-sidecar",
        ),
        pytest.param(
            pod(container(cpu="1"), overhead={"cpu": "250m", "memory": "1Mi"}),
            {"cpu": 1250, "memory": 2**20},
            id="overhead",
        ),
        pytest.param(
            pod(container(cpu="3", memory="1Gi"), resources={"requests": {"cpu": "2"}}),
            {"cpu": 2000, "memory": 2**30},
            id="pod-level-replaces",
        ),
        pytest.param(
            pod(container(cpu="1"), resources={"requests": {"example.com/gpu": "2"}}),
            {"cpu": 1000},
            id="pod-level-unsupported",
        ),
        pytest.param(
            pod(container(), resources={"requests": {"hugepages-2Mi": "4Mi", "storage": "1"}}),
            {"hugepages-2Mi": 4 * 2**20},
            id="pod-level-hugepages",
        ),
        pytest.param(
            pod(container(cpu="1"), ephemeralContainers=[container(cpu="9")]),
            {"cpu": 1000},
            id="ephemeral-containers-do-not-count",
        ),
        pytest.param(
            pod(container(cpu="1"), status=holding({"cpu": "5"})), {"cpu": 1000}, id="no-status"
        ),
    ],
)
def test_requests_of_an_incoming_pod(subject, expected):
    assert amounts(pod_requests(subject, WRITTEN)) == expected


@pytest.mark.parametrize(
    ("subject", "in_1_36", "in_1_37"),
    [
        pytest.param(pod(container(cpu="1")), {"cpu": 1000},
            {"cpu": 1000}, id="no-status"),
        pytest.param(
            pod(container(cpu="1"), status=holding({"cpu": "2"}, {"cpu": "3"})),
            {"cpu": 3000},
            {"cpu": 3000},
            id="largest-counts",
        ),
        pytest.param(
            pod(container(cpu="9"), status={**holding({"cpu": "2"}), **INFEASIBLE}),
            {"cpu": 2000},
            {"cpu": 2000},
            id="infeasible-leaves-out-the-spec",
        ),
        pytest.param(
            pod(container(cpu="9"), status={**holding({"cpu": "2"}), **DEFERRED}),
            {"cpu": 9000},
            {"cpu": 9000},
            id="first-condition-decides",
        ),
        pytest.param(
            pod(container(cpu="1"), status={"containerStatuses": [
                {"name": "c", "allocatedResources": {"cpu": "5"}}]}),
            {"cpu": 1000},
            {"cpu": 5000},
            id="allocated-without-actual",
        ),
        pytest.param(
            pod(container(cpu="1"), status=holding({"cpu": "5"}, name="other")),
            {"cpu": 1000},
            {"cpu": 1000},
            id="other-container",
        ),
        pytest.param(
            pod(
                container(cpu="1"),
                init=[container("s", cpu="1", always=True), container("i", cpu="1")],
                status={"initContainerStatuses": [
                    {"name": "s", "resources": {"requests": {"cpu": "2"}}},
                    {"name": "i", "resources": {"requests": {"cpu": "9"}}}]},
            ),
            {"cpu": 3000},
            {"cpu": 11000},
            id="sidecars-and-init-containers",
        ),
        pytest.param(
            pod(
                container(),
                resources={"requests": {"cpu": "1", "memory": "1"}},
                status={
                    "resources": {"requests": {"cpu": "2"}},
                    "allocatedResources": {"cpu": "3"},
                },
            ),
            {"cpu": 3000, "memory": 1},
            {"cpu": 3000, "memory": 1},
            id="pod-level",
        ),
        pytest.param(
            pod(
                container("a", cpu="1"),
                container("b", cpu="3"),
                status={"containerStatuses": [
                    {"name": "a", "resources": {"requests": {"cpu": "3"}}},
                    {"name": "b", "resources": {"requests": {"cpu": "1"}}}]},
            ),
            {"cpu": 6000},
            {"cpu": 4000},
            id="one-grows-while-another-shrinks",
        ),
        pytest.param(
            pod(
                container("a", cpu="1"),
                container("b", cpu="1"),
                status={"containerStatuses": [
                    {"name": "a", "resources": {"requests": {"cpu": "4"}}}]},
            ),
            {"cpu": 5000},
            {"cpu": 5000},
            id="a-container-without-status-counts-as-written",
        ),
        pytest.param(
            pod(container(cpu="9", memory="1"), status=INFEASIBLE),
            {"cpu": 9000, "memory": 1},
            {},
            id="infeasible-without-status",
        ),
        pytest.param(
            pod(
                container(cpu="1"),
                status={
                    **holding({"cpu": "9"}),
                    "resources": {"requests": {"cpu": "2"}},
                    "allocatedResources": {"cpu": "3"},
                },
            ),
            {"cpu": 9000},
            {"cpu": 3000},
            id="status-of-the-pod-without-pod-level-requests",
        ),
        pytest.param(
            pod(
                container(cpu="1"),
                resources={"requests": {"cpu": "1"}},
                status={"resources": {"requests": {"cpu": "2", "memory": "7"}}},
            ),
            {"cpu": 2000},
            {"cpu": 2000, "memory": 7},
            id="pod-level-status-has-more-resources",
        ),
        pytest.param(
            pod(
                container(),
                resources={"requests": {"cpu": "9", "memory": "1"}},
                status={"resources": {"requests": {"cpu": "2"}}, **INFEASIBLE},
            ),
            {"cpu": 2000, "memory": 0},
            {"cpu": 2000},
            id="pod-level-infeasible",
        ),
    ],
)  # fmt: skip
def test_requests_of_a_pod_that_is_being_resized(subject, in_1_36, in_1_37):
    assert amounts(pod_requests(subject, request_rule(V1_36))) == in_1_36
    assert amounts(pod_requests(subject, request_rule(V1_37))) == in_1_37
    assert is_held(subject) or in_1_36 == in_1_37 == amounts(pod_requests(subject, WRITTEN))


MIB = 2**20


@pytest.mark.parametrize(
    ("subject", "placed", "incoming"),
    [
        pytest.param(pod(container()), (100, 200 * MIB), (100, 200 * MIB), id="defaults"),
        pytest.param(
            pod(container(), container()), (200, 400 * MIB), (200, 400 * MIB), id="per-container"
        ),
        pytest.param(pod(container(cpu="0", memory="0")), (0, 0), (0, 0), id="zero-is-not-missing"),
        pytest.param(
            pod(container(cpu="1")), (1000, 200 * MIB), (1000, 200 * MIB), id="each-resource"
        ),
        pytest.param(
            pod(container(cpu="50m"), init=[container(memory="1Gi")]),
            (100, 1024 * MIB),
            (100, 1024 * MIB),
            id="init-containers-too",
        ),
        pytest.param(
            pod(container(), container(), resources={"requests": {"cpu": "2", "memory": "2Gi"}}),
            (2000, 2048 * MIB),
            (200, 400 * MIB),
            id="scores-ignore-pod-level-of-incoming-pods",
        ),
        pytest.param(
            pod(container(), container(), resources={"requests": {"cpu": "2"}}),
            (2000, 400 * MIB),
            (200, 400 * MIB),
            id="pod-level-lacks-memory",
        ),
        pytest.param(
            pod(container(memory="1Mi"), container(), resources={"requests": {"cpu": "2"}}),
            (2000, MIB),
            (200, 201 * MIB),
            id="pod-level-and-memory-of-one",
        ),
    ],
)
def test_non_zero(subject, placed, incoming):
    scored = amounts(pod_requests(subject, WRITTEN, pod_level=False, non_missing=True))

    assert non_zero(subject, HELD_IN_SUM) == placed
    assert (scored["cpu"], scored["memory"]) == incoming


def test_allocatable_is_in_the_schedulers_units():
    offered = {
        "cpu": "3900m",
        "memory": "1.5Ki",
        "pods": "110",
        "ephemeral-storage": "1e9",
        "example.com/cores": "4.5",
        "unknown": "7",
    }
    node = decode(Node, {"status": {"allocatable": offered, "capacity": {"cpu": "4"}}})

    assert allocatable(node) == {
        "cpu": 3900,
        "memory": 1536,
        "pods": 110,
        "ephemeral-storage": 10**9,
        "example.com/cores": 5,
    }


def test_amounts_stay_within_int64():
    assert amounts(pod_requests(pod(container(cpu="1e30")), WRITTEN)) == {"cpu": quantity.MAX_INT64}


def test_host_ports_are_those_of_what_keeps_running():
    def ports(*ports, **more):
        return {"ports": list(ports), **more}

    subject = pod(
        ports({"containerPort": 80}, {"hostPort": 80}, {"hostPort": 53, "protocol": "UDP"}),
        init=[
            ports({"hostPort": 1, "hostIP": "10.0.0.1"}, restartPolicy="Always"),
            ports({"hostPort": 2}),
        ],
    )

    assert set(host_ports(subject)) == {
        ("0.0.0.0", "TCP", 80),
        ("0.0.0.0", "UDP", 53),
        ("10.0.0.1", "TCP", 1),
    }


cpus = st.integers(0, 5000)


@given(running=st.lists(cpus), starting=st.lists(st.tuples(cpus, st.booleans())))
def test_requests_cover_every_moment_of_the_pods_life(running, starting):
    """Play the start: the request is the most that ever runs at the same time."""
    sidecars = 0
    moments = []
    for cpu, always in starting:
        moments.append(sidecars + cpu)
        sidecars += cpu if always else 0
    moments.append(sidecars + sum(running))
    subject = pod(
        *(container(cpu=f"{cpu}m") for cpu in running),
        init=[container(cpu=f"{cpu}m", always=always) for cpu, always in starting],
    )

    assert amounts(pod_requests(subject, WRITTEN)).get("cpu", 0) == max(moments)


quantities = st.fixed_dictionaries({}, optional={"cpu": st.sampled_from(["1", "2"])})
shown = st.fixed_dictionaries(
    {"name": st.sampled_from("cd")},
    optional={
        "resources": st.fixed_dictionaries({"requests": quantities}),
        "allocatedResources": quantities,
    },
)
held_pods = st.builds(
    lambda names, inits, own, status: pod(
        *(container(name, **requests) for name, requests in names),
        init=[container(name, always=always) for name, always in inits],
        status=status,
        **own,
    ),
    st.lists(st.tuples(st.sampled_from("cd"), quantities), max_size=2),
    st.lists(st.tuples(st.sampled_from("cd"), st.booleans()), max_size=1),
    st.fixed_dictionaries(
        {},
        optional={
            "overhead": quantities,
            "resources": st.fixed_dictionaries({"requests": quantities}),
        },
    ),
    st.fixed_dictionaries(
        {"containerStatuses": st.lists(shown, max_size=2)},
        optional={
            "initContainerStatuses": st.lists(shown, max_size=1),
            "allocatedResources": quantities,
            "resources": st.fixed_dictionaries({"requests": quantities}),
            "conditions": st.sampled_from([INFEASIBLE["conditions"], DEFERRED["conditions"]]),
        },
    ),
)


@pytest.mark.parametrize("release", [V1_36, V1_37])
@given(subjects=st.lists(held_pods, max_size=5))
def test_kept_results_are_those_of_the_pod_itself(release, subjects):
    rule = request_rule(release)
    for subject in subjects:
        exact = amounts(pod_requests(subject, rule))
        assert held_requests(subject, rule) == (exact, non_zero(subject, rule))


@given(subject=held_pods)
def test_a_pod_that_is_not_held_takes_what_is_written(subject):
    for rule in map(request_rule, (V1_36, V1_37)):
        if not is_held(subject):
            assert amounts(pod_requests(subject, rule)) == amounts(pod_requests(subject, WRITTEN))
            assert non_zero(subject, rule) == non_zero(subject, WRITTEN)


def test_the_usual_running_pod_is_not_held():
    """Its status repeats the spec, as that of every container that is not being resized."""
    assert not is_held(pod(container(cpu="1"), status=holding({"cpu": "1"}, {"cpu": "1"})))
    assert is_held(pod(container(cpu="1"), status=holding({"cpu": "2"}, {"cpu": "1"})))
