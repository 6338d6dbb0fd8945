"""Which class provides an extended resource, with the oddities of kube-scheduler."""

import pytest

from podium.devices.extended_resources import ExtendedResources, NoExtendedResources
from podium.testing.builders import pod
from podium.testing.builders_devices import device_class

GPU = "example.com/gpu"


def provider(name, created="", resource=GPU, **fields):
    return device_class(name, creation_timestamp=created, extended_resource_name=resource, **fields)


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def names(classes, kind=ExtendedResources):
    """The class behind each resource after these classes came."""
    found = kind()
    for each in classes:
        found.class_changed(None, each)
    return {resource: each.name for resource, each in found.classes.items()}


def implicit(name):
    return f"deviceclass.resource.kubernetes.io/{name}"


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        pytest.param([provider("a")], {GPU: "a", implicit("a"): "a"}, id="one"),
        pytest.param([provider("a", resource="")], {implicit("a"): "a"}, id="implicit-only"),
        pytest.param(
            [provider("a", EARLY), provider("b", LATE)],
            {GPU: "b", implicit("a"): "a", implicit("b"): "b"},
            id="newer-wins",
        ),
        pytest.param(
            [provider("b", LATE), provider("a", EARLY)],
            {GPU: "b", implicit("b"): "b"},
            id="the-loser-has-no-name-at-all",
        ),
        pytest.param(
            [provider("b", EARLY), provider("a", EARLY)],
            {GPU: "a", implicit("a"): "a", implicit("b"): "b"},
            id="first-name-wins-a-tie",
        ),
        pytest.param(
            [provider("a", "yesterday"), provider("b", EARLY)],
            {GPU: "b", implicit("a"): "a", implicit("b"): "b"},
            id="no-time",
        ),
    ],
)
def test_classes_that_name_one_resource(classes, expected):
    assert names(classes) == expected
    assert names(classes, NoExtendedResources) == {}


def test_update_that_keeps_the_name_is_ignored():
    found = ExtendedResources()
    old, new = provider("a"), provider("a", labels="new=yes")
    found.class_changed(None, old)

    found.class_changed(old, new)

    assert found.classes.get(GPU) is old


def test_renaming_and_removing():
    found = ExtendedResources()
    old, new = provider("a"), provider("a", resource="example.com/tpu")
    found.class_changed(None, old)

    found.class_changed(old, new)
    assert found.classes.get(GPU) is None
    assert found.classes.get("example.com/tpu") is new
    found.class_changed(new, None)
    assert found.classes == {}


def test_removing_takes_the_resource_from_its_new_owner():
    found = ExtendedResources()
    old, new = provider("a", EARLY), provider("b", LATE)
    found.class_changed(None, old)
    found.class_changed(None, new)

    found.class_changed(old, None)

    assert found.classes.get(GPU) is None


def test_what_a_pod_requests():
    found = ExtendedResources()
    found.class_changed(None, provider("a"))

    assert found.requested_by(pod(requests={"cpu": 1, GPU: 2, "example.com/x": 1})) == (GPU,)
    assert found.requested_by(pod(requests={GPU: 0})) == ()


def test_classes_that_change_for_the_same_pod():
    found, asking = ExtendedResources(), pod(requests={GPU: 1})
    assert found.requested_by(asking) == ()

    found.class_changed(None, provider("a"))

    assert found.requested_by(asking) == (GPU,)
