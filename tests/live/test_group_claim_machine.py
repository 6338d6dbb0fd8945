"""Groups that share claims in any order of events, against a model that knows who fits where."""

from tests.support.group_claim_machine import ClaimMachine, GroupOwnedClaimMachine
from tests.support.search import examples

TestClaims = ClaimMachine.TestCase
TestClaims.settings = examples(100, stateful_step_count=20, deadline=None)

TestClaimsOfGroups = GroupOwnedClaimMachine.TestCase
TestClaimsOfGroups.settings = examples(100, stateful_step_count=20, deadline=None)
