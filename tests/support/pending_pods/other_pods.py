"""Pods that other pods keep away: by spreading or by affinity."""

from __future__ import annotations

from random import Random

from podium.testing import node, pod
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import HOSTNAME, ZONE, affinity, some_nodes, spread, term


@family("TopologySpreadSkew", "InsufficientResource")
def _zone_skew(random: Random):
    count = random.randint(1, 3)
    nodes = [
        node("a1", labels=f"{HOSTNAME}=a1 {ZONE}=a"),
        node("b1", cpu="1", labels=f"{HOSTNAME}=b1 {ZONE}=b"),
    ]
    busy = [pod("full", node="b1", cpu="1")]
    web = [pod(f"web-{n}", node="a1", cpu="100m", labels="app=web") for n in range(count)]
    constraint = spread(random.randint(1, count), ZONE)
    subject = pod("web", cpu="100m", labels="app=web", topology_spread_constraints=[constraint])
    return [*nodes, *busy, *web], subject


@family("TopologyLabelMissing")
def _spread_over_a_missing_label(random: Random):
    constraints = [spread(1, "rack"), *([spread(9, HOSTNAME)] if random.random() < 0.5 else [])]
    subject = pod("web", cpu="100m", labels="app=web", topology_spread_constraints=constraints)
    return some_nodes(random), subject


@family("TopologyLabelMissing")
def _hard_and_soft_spreading_over_one_label(random: Random):
    constraints = [spread(1, "rack"), {**spread(1, "rack"), "whenUnsatisfiable": "ScheduleAnyway"}]
    random.shuffle(constraints)
    subject = pod("web", cpu="100m", labels="app=web", topology_spread_constraints=constraints)
    return some_nodes(random), subject


@family("PodAntiAffinity")
def _own_replicas(random: Random):
    nodes = some_nodes(random)
    apart = affinity("podAntiAffinity", term("app", "web", HOSTNAME))
    web = [pod(f"web-{n.name}", node=n.name, labels="app=web", affinity=apart) for n in nodes]
    return [*nodes, *web], pod("web", cpu="100m", labels="app=web", affinity=apart)


@family("PodAffinityMismatch")
def _partner_is_missing(random: Random):
    terms = [term("app", "db", ZONE), term("tier", "back", HOSTNAME)][: random.randint(1, 2)]
    return some_nodes(random), pod("web", cpu="100m", affinity=affinity("podAffinity", *terms))


@family("ExistingAntiAffinity")
def _unwanted_by_others(random: Random):
    nodes = some_nodes(random)
    apart = affinity("podAntiAffinity", term("app", "web", HOSTNAME))
    alone = [pod(f"alone-{n.name}", node=n.name, affinity=apart) for n in nodes]
    return [*nodes, *alone], pod("web", cpu="100m", labels="app=web")
