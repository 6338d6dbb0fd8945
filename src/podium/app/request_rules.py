"""How pods count that are being resized, by release."""

from __future__ import annotations

from podium.api.resources import HELD_BY_CONTAINER, HELD_IN_SUM, RequestRule
from podium.release import V1_37, Release


def request_rule(release: Release) -> RequestRule:
    """Return the rule that a cluster's state of this release is built with."""
    return HELD_IN_SUM if release >= V1_37 else HELD_BY_CONTAINER
