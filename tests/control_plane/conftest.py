"""One control plane and one embedded server for all comparisons of a run."""

import pytest

from tests.support.control_plane import sides
from tests.support.control_plane.plane import ControlPlane, NoControlPlane, find_binaries


@pytest.fixture(scope="session")
def binaries():
    try:
        return find_binaries()
    except NoControlPlane as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def plane(binaries):
    with ControlPlane(binaries) as running:
        yield running


@pytest.fixture(scope="session")
def theirs(plane):
    return sides.real(plane)


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    with sides.embedded(tmp_path_factory.mktemp("embedded")) as side:
        yield side
