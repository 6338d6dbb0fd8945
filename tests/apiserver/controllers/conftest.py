"""A cluster for the controllers to work on."""

import pytest

from tests.support.controllers import World, node


@pytest.fixture
def world():
    """With one node; what else it needs, a test creates."""
    made = World()
    made.create("nodes", node())
    return made
