"""Generated pending pods: the cause is true, each fix helps for real, and none is smaller."""

import asyncio
import re
from pathlib import Path

import jsonschema
import pytest

from podium import Simulation, app, config, explain
from podium.explain import Explanation
from podium.explain.attempts import Attempts
from podium.explain.fixes.search import FINDERS
from podium.state.cluster import load
from podium.testing import SimulatedCluster
from tests.support import applied_fixes
from tests.support.pending_pods import FAMILIES, Scenario, scenario
from tests.support.search import scaled
from tests.support.smaller_fixes import ORDERED, WITHOUT_ORDER, smaller

DOCS = Path(__file__).parents[2] / "docs" / "explain.md"
CASES = 8 * len(FAMILIES)  # in the profile ``thorough``; else half of the families once
CHUNKS = 16
SCHEMA = jsonschema.Draft202012Validator(explain.schema())


def seeds(chunk: int) -> range:
    if scaled(CASES) == CASES:
        return range(chunk, CASES, CHUNKS)
    return range(chunk, len(FAMILIES), 2 * CHUNKS)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_pending_pods(chunk):
    for seed in seeds(chunk):
        asyncio.run(check(scenario(seed)))


def test_every_kind_of_fix_is_searched_for_smaller_ones():
    """The table in the docs says what is smaller; each kind has a search, or a reason for none."""
    table = DOCS.read_text().split("## Fixes")[1].split("## Reason codes")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    smaller_is = {kind: row[3] for row in rows for kind in re.findall("`([a-z-]+)`", row[1])}

    assert smaller_is.keys() == ORDERED.keys() | WITHOUT_ORDER.keys()
    assert {kind for kind, text in smaller_is.items() if text.startswith(" (")} == set(
        WITHOUT_ORDER
    )
    of_groups = {"create-pod-group", "group-request", "group-priority", "min-count", "new-nodes"}
    others = {"node-name", "combination", *of_groups}
    assert {kind for kind, _ in FINDERS} | others == smaller_is.keys()


async def check(given: Scenario) -> None:
    async with SimulatedCluster() as cluster:
        await applied_fixes.build(cluster, given)
        assert cluster.node_of(given.pod.name) is None, given
        simulation, found = applied_fixes.explain(cluster, given)
    SCHEMA.validate(found.to_dict())
    check_cause(simulation, given, found)
    assert found.fixes, (given.family, found.sentence)
    for fix in found.fixes:
        assert smaller(simulation, given.pod.key, fix) == [], (given.family, fix)
        await check_fix(given, fix)


async def check_fix(given: Scenario, fix: explain.Fix) -> None:
    """Apply the fix on another cluster like this: the pod must get the node that was promised."""
    async with SimulatedCluster() as cluster:
        await applied_fixes.build(cluster, given)
        node = await applied_fixes.apply(cluster, given, fix)
        assert node is not None, (given.family, fix, cluster.why_pending(given.pod.name))
        if fix.tied == 1 and not given.scheduled:
            assert node == fix.node, (given.family, fix)


def check_cause(simulation: Simulation, given: Scenario, found: Explanation) -> None:
    """Without the filters that are named as causes, nothing keeps the pod off all nodes."""
    codes = [each.code for each in found.causes]
    assert set(codes) & given.codes, (given.family, found.sentence)
    assert codes[0] in given.codes, (given.family, found.sentence)
    filters = [each.plugin for each in found.causes if each.point == "Filter"]
    if len(filters) < len(codes):
        return  # refused before single nodes were judged: the fix shows that the cause is true
    ways = [filters] if is_several_at_once(found) else [[each] for each in filters]
    for names in ways:
        assert fits_without(simulation, given, names), (given.family, names, found.sentence)


def is_several_at_once(found: Explanation) -> bool:
    return all(len({s.plugin for s in miss.shortfalls}) > 1 for miss in found.near_misses)


def fits_without(simulation: Simulation, given: Scenario, plugins: list[str]) -> bool:
    """Return whether a scheduler without these filters finds a node."""
    registry = app.in_tree()
    profile = {"plugins": {"multiPoint": {"disabled": [{"name": name} for name in plugins]}}}
    source = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    core = app.build(config.from_value(source, registry), registry=registry)
    placed = [info.pod for info in simulation.core.cluster.pods.values()]
    stored = [
        each for kind in core.cluster._stores for each in simulation.core.cluster.objects(kind)
    ]
    load(core.cluster, [*simulation.nodes.values(), *stored, *placed])
    return Attempts(core).run(simulation.pods[given.pod.key]).places
