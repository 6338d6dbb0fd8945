"""Groups and single pods in any order of events, against a model that counts free places."""

from tests.support.group_machine import GroupMachine, PlacementMachine
from tests.support.group_tree_machine import TreeMachine
from tests.support.search import examples

TestGroups = GroupMachine.TestCase
TestGroups.settings = examples(100, stateful_step_count=20, deadline=None)

TestPlacements = PlacementMachine.TestCase
TestPlacements.settings = examples(100, stateful_step_count=20, deadline=None)

TestTrees = TreeMachine.TestCase
TestTrees.settings = examples(100, stateful_step_count=20, deadline=None)
