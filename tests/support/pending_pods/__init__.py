"""Generated clusters with one pod that stays pending: a family for each reason that people meet.

``scenario(seed)`` builds one; the family goes round with the seed, and the sizes are random.
"""

from __future__ import annotations

from random import Random

# Each module registers its families.
from tests.support.pending_pods import claims as claims
from tests.support.pending_pods import device_rules as device_rules
from tests.support.pending_pods import devices as devices
from tests.support.pending_pods import nodes as nodes
from tests.support.pending_pods import other_pods as other_pods
from tests.support.pending_pods import resources as resources
from tests.support.pending_pods import rules_together as rules_together
from tests.support.pending_pods import several as several
from tests.support.pending_pods import volumes as volumes
from tests.support.pending_pods.families import FAMILIES as FAMILIES
from tests.support.pending_pods.families import Scenario as Scenario


def scenario(seed: int) -> Scenario:
    names = sorted(FAMILIES)
    return FAMILIES[names[seed % len(names)]](Random(seed))
