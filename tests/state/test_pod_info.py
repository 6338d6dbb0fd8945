import pytest

from podium.state.aspects import Aspect
from podium.state.pod_info import UNPLACED, PodInfo
from podium.testing.builders import pod

ALWAYS = Aspect.RESOURCES | Aspect.PODS


def test_what_is_derived_from_a_pod():
    info = PodInfo(pod("web", cpu="1", requests={"example.com/gpu": 2, "nonsense": 3}, priority=7))

    assert (info.key, info.uid, info.priority) == ("default/web", "uid-web", 7)
    assert info.requests == {"cpu": 1000, "example.com/gpu": 2}
    assert info.non_zero == (1000, 200 * 2**20)
    assert info.row == UNPLACED
    assert repr(info) == "PodInfo(default/web)"


def test_a_priority_that_is_not_set_is_zero():
    assert PodInfo(pod()).priority == 0


def test_a_running_resize_holds_the_larger():
    status = {"name": "main", "resources": {"requests": {"cpu": "3"}}}
    info = PodInfo(pod(cpu="1", status={"container_statuses": (status,)}))

    assert info.requests == {"cpu": 3000}
    assert PodInfo(pod(cpu="1")).requests == {"cpu": 1000}


AFFINITY = {"podAntiAffinity": {}}
BROKEN = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"not a key": "x"}}}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "aspects"),
    [
        pytest.param({}, ALWAYS, id="plain"),
        pytest.param({"affinity": AFFINITY}, ALWAYS | Aspect.AFFINITY, id="even-empty-affinity"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, ALWAYS, id="node-affinity-is-none"),
        pytest.param({"host_ports": (80,)}, ALWAYS | Aspect.PORTS, id="host-port"),
        pytest.param({"host_ports": (0,)}, ALWAYS, id="no-host-port"),
        pytest.param({"volumes": ({"name": "v", "persistentVolumeClaim": {"claimName": "c"}},)},
                     ALWAYS | Aspect.VOLUMES, id="volume"),
    ],
)  # fmt: skip
def test_aspects_that_its_coming_changes(fields, aspects):
    assert PodInfo(pod(**fields)).aspects == aspects


def test_terms_that_cannot_be_read_are_none():
    info = PodInfo(pod(affinity=BROKEN))

    assert info.has_affinity
    assert info.terms.required == ()
    assert len(info.terms.problems) == 1
