"""What a running scheduler says about groups of pods, and where their members are."""

from podium import config, framework
from podium.api.pod_groups import COSCHEDULING_LABEL
from podium.live import group_records
from podium.live.introspection import Introspection
from podium.testing.builders import pod
from tests.support import toys
from tests.support.groups import group, member, play
from tests.support.live import play as play_desk


class Known:
    """The objects that informers would know; ``labelled`` are the groups of Coscheduling."""

    def __init__(self, pods, labelled=None):
        self._pods = pods
        self._labelled = labelled

    def pod(self, key):
        return next((each for each in self.pods() if each.key == key), None)

    def pods(self):
        return list(self._pods.values())

    def custom(self, name):
        assert name == group_records.RESOURCE
        return self._labelled


def knows(world, known):
    return Introspection(
        services=world.services,
        queue=world.queue,
        known=known,
        profiles={},
        server="",
        release="1.37",
        configured=config.default,
    )


def seen(world):
    return knows(world, Known(world.pods)).look_at_queue(50)()


def states(group):
    return {each.pod.removeprefix("default/"): each.state for each in group.members}


def test_a_gang_with_too_few_pods_and_one_without_its_group():
    async def scene(world):
        world.add_nodes("n0")
        world.add(group("few", min_count=3), member("a", "few"), member("b", "few"))
        world.add(member("lost", "nowhere"))
        await world.settle()

        found = seen(world)
        few, nowhere = found.groups
        assert (few.group, few.wanted, few.size, few.placed) == ("default/few", 3, 2, 0)
        assert states(few) == {"a": "gated", "b": "gated"}
        assert (few.queued.queue, few.queued.gated_by) == ("gated", "GangScheduling")
        assert (nowhere.group, nowhere.wanted, nowhere.queued.queue) == (
            "default/nowhere", 0, "incomplete"
        )  # fmt: skip
        assert states(nowhere) == {"lost": "incomplete"}
        assert (found.gated, found.incomplete, found.in_flight) == (2, 1, 0)
        assert {each.group for each in found.pods} == {"default/few"}

        lost = knows(world, Known(world.pods)).look_at_pod("default/lost")()
        assert (lost.state, lost.queued.group) == ("incomplete", "default/nowhere")

    play(scene)


def test_a_gang_that_does_not_fit_backs_off_as_one():
    async def scene(world):
        world.add_nodes("n0", cpu="1")
        world.add(group(min_count=2), member("a", cpu="1"), member("b", cpu="1"))
        await world.settle()

        (gang,) = seen(world).groups
        assert states(gang) == {"a": "backoff", "b": "backoff"}
        assert (gang.queued.attempts, bool(gang.queued.backoff_until)) == (1, True)

        world.add_nodes("n1", cpu="1")
        await world.wait(20)
        assert world.placed("a", "b") == {"a", "b"}
        assert seen(world).groups == ()  # none of its pods waits

    play(scene)


def test_a_basic_group_with_members_that_fit_and_one_that_does_not():
    async def scene(world):
        world.add_nodes("n0", cpu="1")
        world.add(group(), member("a", cpu="1"), member("b", cpu="1"))
        await world.settle()

        (found,) = seen(world).groups
        assert (found.wanted, found.size, found.placed) == (1, 2, 1)
        assert sorted(states(found).values()) == ["backoff", "placed"]
        assert next(each.node for each in found.members if each.state == "placed") == "n0"

    play(scene)


def labelled(name, of="training"):
    return pod(name, labels={COSCHEDULING_LABEL: of})


def test_groups_of_coscheduling_are_found_by_their_label():
    """Their pods wait one by one: some in the queue, some for Permit."""

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(labelled("first"))
        await desk.settle()
        desk.see(labelled("second", of="unknown"))
        desk.see(pod("alone"))
        objects = {"default/training": {"spec": {"minMember": 4}}}

        known = Known(desk.known, objects)
        training, unknown = sorted(
            knows(desk, known).look_at_queue(50)().groups, key=lambda each: each.group
        )
        assert (training.group, training.kind) == ("default/training", group_records.LABELLED)
        assert (training.wanted, training.size, training.placed) == (4, 1, 0)
        (first,) = training.members
        assert (first.state, first.node) == ("waiting", "n1")
        assert (unknown.wanted, states(unknown)) == (0, {"second": "active"})
        assert knows(desk, Known(desk.known)).look_at_queue(50)().groups == ()

    play_desk(scene, toys.Permit("P", framework.wait(60)), toys.Bind("Bind"))


def test_a_large_group_names_only_some_of_its_members():
    many = {f"p{n}": member(f"p{n}") for n in range(group_records.MOST_MEMBERS + 5)}

    async def scene(world):
        world.add(group(min_count=1000), *many.values())
        (found,) = seen(world).groups
        assert (found.size, len(found.members)) == (len(many), group_records.MOST_MEMBERS)

    play(scene)
