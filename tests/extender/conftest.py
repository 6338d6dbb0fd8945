"""One extender process for all tests, and one that speaks TLS."""

import pytest

from tests.support.extender_process import Server


@pytest.fixture(scope="session")
def server():
    with Server() as started:
        yield started


@pytest.fixture(scope="session")
def secure_server():
    with Server(secure=True) as started:
        yield started
