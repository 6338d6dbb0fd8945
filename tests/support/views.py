"""Views of nodes, as tests of the state need them."""

from podium.state.cluster import ClusterState
from podium.state.rows import Rows


def state_of(nodes: Rows) -> ClusterState:
    """Return the state behind a view, which plugins cannot reach."""
    return nodes._moment.state
