"""What the metrics of informers show, and that 1.36 does not time handlers for them."""

import pytest

from podium.api.objects import DeviceClass, StorageClass
from podium.client.resources import PODS, custom_resource, resource_of
from podium.live.informer_metrics import InformerMetrics, labels_of, number_of
from podium.metrics import Metrics
from podium.release import V1_36


class Informer:
    """A kind that is known up to a version."""

    def __init__(self, resource, version):
        self.resource, self.version = resource, version


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(PODS, ("", "v1", "pods"), id="core"),
        pytest.param(resource_of(StorageClass), ("storage.k8s.io", "v1", "storageclasss"),
                     id="kube-scheduler-adds-an-s"),
        pytest.param(resource_of(DeviceClass), ("resource.k8s.io", "v1", "deviceclasss"), id="too"),
        pytest.param(custom_resource("prices.v1beta1.example.com"),
                     ("example.com", "v1beta1", "prices"), id="custom"),
    ],
)  # fmt: skip
def test_labels(resource, expected):
    assert labels_of(resource) == ("kube-scheduler", *expected)


@pytest.mark.parametrize(
    ("version", "number"),
    [
        pytest.param("", 0, id="not-listed-yet"),
        pytest.param("4711", 4711, id="short"),
        pytest.param("9123456789012345", 123456789012345, id="last-fifteen-digits"),
        pytest.param("v1-x", 0, id="not-a-number"),
    ],
)
def test_versions(version, number):
    assert number_of(version) == number


def test_informers_are_read_when_metrics_are():
    metrics, pods = Metrics(), Informer(PODS, "7")
    informers = []
    InformerMetrics(metrics, informers)
    informers.append(pods)
    labels = labels_of(PODS)

    assert metrics.informer_versions.series() == {labels: 7}
    assert metrics.informer_queued.series() == {labels: 0}
    pods.version = "8"
    assert metrics.informer_versions.series() == {labels: 8}


def test_handlers_are_timed():
    metrics, told, times = Metrics(), [], iter([1.0, 3.5])
    handler = InformerMetrics(metrics, []).timed(
        PODS, lambda old, new: told.append((old, new)), lambda: next(times)
    )
    handler(None, "pod")

    assert told == [(None, "pod")]
    (series,) = metrics.informer_seconds.series().values()
    assert series.total == 2.5


def test_1_36_has_no_such_metrics():
    metrics = InformerMetrics(Metrics(release=V1_36), [])

    assert metrics.timed(PODS, print) is print
