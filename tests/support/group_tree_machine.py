"""Trees of groups that come, change and go, with what must always hold at every level.

``a`` belongs to ``root``, ``b`` to ``inner``, which belongs to ``root`` as well; ``c`` is alone.
Nothing that counts of a CompositePodGroup can be changed, so that it is deleted and created anew.
"""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from podium.api.objects import PodGroup
from tests.support.group_machine import GroupMachine, Watched, without_gates
from tests.support.groups import TREES, composite, group

PARENTS = {"a": {"parent": "root"}, "b": {"parent": "inner"}, "c": {}}
COMPOSITES = {"root": {}, "inner": {"parent": "root"}}
NAMES = st.sampled_from(sorted(COMPOSITES))
MINIMA = st.sampled_from([None, 1, 2])


class WatchedTrees(Watched):
    """Looks at all levels of a tree when a member of it is bound."""

    def sent(self, subject):
        root = self.cluster.trees.root_of(subject)
        if root is None or self.undone & self.keys_below(root):
            return
        own = self.cluster.trees.group_of(subject)
        for each in self.cluster.trees.lineage(own):
            if not self.has_enough(each):
                self.violations.append(f"{subject.key} is bound: {each.entity_key} has too few")

    def keys_below(self, group):
        return {leaf.key for leaf in self.cluster.trees.leaves(group)}

    def has_enough(self, group):
        if isinstance(group, PodGroup):
            count = self.cluster.members(group.key).scheduled_count
        else:
            count = sum(map(self.has_enough, self.cluster.trees.children(group)))
        return count >= group.min_count

    def told_about(self, subject, condition):
        """The nodes that are nominated are looked at for single groups only."""

    def tree_changes(self):
        """What is on its way goes on: it was decided for the trees as they were."""
        self.undone |= {group.key for group in self.groups.values()}


class TreeMachine(GroupMachine):
    gates = TREES
    world_type = WatchedTrees

    def __init__(self):
        super().__init__()
        self.priority_of = dict.fromkeys("abc", 0)
        self.disturbed = set()

    def more_of(self, name):
        return PARENTS[name]

    @initialize(
        minima=st.lists(MINIMA, min_size=5, max_size=5),
        sizes=st.lists(st.integers(0, 4), min_size=3, max_size=3),
    )
    def trees(self, minima, sizes):
        """Begin with all groups, and with members that come together."""
        composites, leaves = minima[:2], minima[2:]
        for name, minimum in zip(COMPOSITES, composites, strict=True):
            self.world.add(composite(name, min_groups=minimum, **COMPOSITES[name]))
        for name, minimum in zip(PARENTS, leaves, strict=True):
            self.world.add(group(name, min_count=minimum, **PARENTS[name]))
        self.add_many(
            [name for name, size in zip(PARENTS, sizes, strict=True) for _ in range(size)]
        )

    @rule(names=st.lists(st.sampled_from(["a", "b"]), min_size=2, max_size=6))
    def add_many(self, names):
        """Members of the tree, which is not tried before all are there."""
        self.number += 1
        gated = self._new_member("a", is_gated=True)
        self.world.add(gated)
        for name in names:
            self.number += 1
            self.world.add(self._new_member(name, is_gated=False))
        self.world.add(without_gates(gated))
        self.settle()

    @rule(leaving=st.integers(1, 6))
    def finish(self, leaving):
        """Pods that run come to their end, and leave room."""
        running = [name for name, one in self.world.pods.items() if one.node_name]
        for name in running[:leaving]:
            self.world.delete_pod(name)
        self.settle()

    @rule(name=NAMES, minimum=MINIMA, whole=st.booleans())
    def create_composite(self, name, minimum, whole):
        if name not in self.world.composites:
            mode = "all" if whole else "single"
            self.world.add(composite(name, min_groups=minimum, mode=mode, **COMPOSITES[name]))
        self.settle()

    @rule(name=NAMES)
    def delete_composite(self, name):
        if name in self.world.composites:
            self.world.tree_changes()
            self.world.delete_composite(name)
        self.settle()

    @rule(name=st.sampled_from(["a", "b", "c"]))
    def delete_group(self, name):
        self.world.tree_changes()
        if name in self.world.groups:
            self.world.delete_group(name)
        self.settle()

    def forget_undone(self):
        """Remember what was undone for as long as members of the tree wait for others."""
        self.disturbed |= self.world.undone
        super().forget_undone()
        waiting = {self.root_key(one.pod.group_key) for one in self.world.services.waiting_pods}
        self.disturbed = {key for key in self.disturbed if self.root_key(key) in waiting}

    def root_key(self, key):
        known = self.world.cluster.trees.pod_group(key)
        root = None if known is None else self.world.cluster.trees.root(known)
        return "" if root is None else root.entity_key

    def is_short(self, key):
        root = self.world.cluster.trees.get(self.root_key(key))
        if root is None:
            return True
        was_disturbed = bool(self.world.keys_below(root) & self.disturbed)
        return was_disturbed and not self.world.has_enough(root)

    # --- the slow model: free places are counted -------------------------------------------------

    def all_that_fits_runs(self):
        trees = self.world.cluster.trees
        roots = [group for group in trees if trees.root(group) is group]
        for root in roots:
            members = [one for leaf in trees.leaves(root) for one in self.members(leaf.name)]
            if any(one.spec.scheduling_gates or one.priority != root.priority for one in members):
                continue  # gated, or an error
            if len([one for one in members if not one.node_name]) == 0:
                continue
            free = self.free_for_tree(root)
            fits, taken = self.takes(root, free)
            told = [self.world.condition(leaf.name) for leaf in trees.leaves(root)]
            assert not (fits and taken), f"{taken} pods of {root.key} fit into {free}: {told}"

    def free_for_tree(self, root):
        """How many places the tree may take: others may be nominated to the rest."""
        own = self.world.keys_below(root)
        free = sum(self.places(node) - len(list(node.pods)) for node in self.world.cluster.rows())
        return free - sum(
            bool(one.nominated_node_name and not one.node_name)
            for one in self.world.pods.values()
            if one.group_key not in own and one.priority >= root.priority
        )

    def takes(self, group, free):
        """Whether a group fits into so many places, and how many it takes of them."""
        if isinstance(group, PodGroup):
            members = self.members(group.name)
            running = sum(bool(one.node_name) for one in members)
            taken = min(len(members) - running, max(free, 0))
            fits = running + taken >= group.min_count
        else:
            count = taken = 0
            for child in self.world.cluster.trees.children(group):
                is_placed, more = self.takes(child, free - taken)
                count, taken = count + is_placed, taken + more
            fits = count >= group.min_count
        return fits, taken if fits else 0
