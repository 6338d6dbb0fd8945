"""One control plane and one embedded server for all comparisons of a run, by release."""

import functools
import itertools

import pytest

from tests.support.control_plane import processes, schedulers, sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane, find_binaries
from tests.support.control_plane.stage import Stage

_numbers = itertools.count()


def control_planes():
    """The programs of each release; without any, the reason: these tests were asked for by name."""
    try:
        return find_binaries()
    except NoControlPlane as missing:
        return [missing]


@pytest.fixture(
    scope="session",
    params=control_planes(),
    ids=lambda found: "" if isinstance(found, NoControlPlane) else found.folder.name,
)
def binaries(request):
    if isinstance(request.param, NoControlPlane):
        pytest.fail(str(request.param), pytrace=False)
    return request.param


@pytest.fixture(scope="session")
def podium(binaries):
    """podium's scheduler as the release of the control plane, on the secure port."""
    return functools.partial(processes.deployed, release=binaries.release)


@pytest.fixture(scope="session")
def plane(binaries):
    with ControlPlane(binaries) as running:
        yield running


@pytest.fixture(scope="session")
def theirs(plane):
    return sides.real(plane)


@pytest.fixture(scope="session")
def ours(binaries, tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded")
    with sides.embedded(folder, release=binaries.release) as side:
        yield side


@pytest.fixture(
    scope="module",
    params=schedulers.ALL,
    ids=lambda cluster: cluster.__name__.replace("_", "-"),
)
def scheduled(request, binaries, tmp_path_factory):
    """A cluster with a scheduler: podium on both kinds of cluster, and kube-scheduler."""
    with request.param(binaries, tmp_path_factory.mktemp("scheduler")) as side:
        yield side


@pytest.fixture
def stage(scheduled):
    stage = Stage(scheduled, f"story-{next(_numbers)}")
    yield stage
    stage.clear()
