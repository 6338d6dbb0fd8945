"""An informer behind a proxy that delays, cuts, repeats, drops and refuses: it recovers by itself,
what it knows is what a fresh list has, and its handlers were told a story that holds together."""

import random

from hypothesis import Phase, given
from hypothesis import strategies as st

from podium.client.http import RECONNECT_TRIES
from podium.client.pacing import MOST_SECONDS
from podium.client.resources import PODS
from tests.support.client import pod, with_world
from tests.support.faulty_proxy import ALL_FAULTS
from tests.support.search import examples

TRIES_EACH = RECONNECT_TRIES  # of a list; of a watch two, which aiohttp makes


def versions(world):
    items = world.api.store.list("pods", None).items
    return {f"{item.key[0]}/{item.key[1]}": str(item.version) for item in items}


def known(informer):
    return {one.key: one.metadata.resource_version for one in informer.objects()}


class RandomChanges:
    """Pods come, change, go, and come again under their old names."""

    def __init__(self, world, chance):
        self.world = world
        self.chance = chance

    def change(self):
        cluster, name = self.world.cluster, f"p{self.chance.randrange(8)}"
        key = ("default", name)
        if cluster.find("pods", key) is None:
            cluster.create("pods", pod(name))
        elif self.chance.random() < 0.5:
            cluster.modify("pods", key, self._mark)
        else:
            cluster.delete("pods", key)

    def _mark(self, obj):
        labels = {"mark": str(self.chance.random())}
        return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


# A seed does not shrink to anything simpler.
@examples(25, phases=[Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_it_recovers_by_itself(seed):
    survive(seed=seed)


@with_world
async def survive(world, seed):
    world.proxy.chance = random.Random(seed)
    world.proxy.faults = ALL_FAULTS
    changes = RandomChanges(world, random.Random(seed + 1))
    informer, story = world.follow(PODS)
    for _ in range(20):
        for _ in range(changes.chance.randrange(4)):
            changes.change()
        await world.quiet()
        world.clock.advance(changes.chance.choice([0.1, 1.0, 10.0, 100.0]))

    world.proxy.calm()
    await world.in_time(lambda: known(informer) == versions(world) and informer.trouble is None)

    assert {key: one.metadata.resource_version for key, one in story.known.items()} == known(
        informer
    )


@with_world
async def test_a_dead_server_is_asked_less_and_less(world):
    world.proxy.faults.close = 1.0
    world.follow(PODS)
    begun = world.clock.now()

    await world.in_time(lambda: world.clock.now() > begun + 3600)

    last = [request for request in world.proxy.requests if request.at > begun + 1800]
    assert 0 < len(last) <= TRIES_EACH * 1800 / MOST_SECONDS
