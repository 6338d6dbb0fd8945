"""No device is ever given to two claims, whatever happens between pods, claims and the API.

The model is what the API has: each claim with its devices. The scheduler may be behind it, lose
answers, fail half-way and restart.
"""

from collections import Counter

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from podium import framework as fwk
from podium.api.objects import ResourceClaim, ResourceClaimStatus
from podium.errors import Conflict, NotFound, Unreachable
from podium.framework.offline import patched
from podium.plugins.dynamic_resources.pod_claims import PodClaims
from podium.testing.builders_devices import resource_claim
from tests.support.dynamic_resources import Trial, claiming, devices_of, two_nodes
from tests.support.search import examples

CLAIMS = [f"c{number}" for number in range(4)]
DEVICES = 2  # on each of two nodes
LOST, HALF_LOST = "lost", "written, and the answer is lost"
# Of the first writes for a claim: first comes its finalizer, then its allocation.
FATES = [(), ("answer", HALF_LOST), ("answer", LOST), (HALF_LOST,), (LOST,)]


class Api:
    """The claims as the API server has them; ``fates`` say what becomes of the next writes."""

    def __init__(self) -> None:
        self.claims: dict[str, ResourceClaim] = {}
        self.version = 0
        self.fates: list[str] = []

    def put(self, claim: ResourceClaim) -> ResourceClaim:
        self.version += 1
        metadata = msgspec.structs.replace(claim.metadata, resource_version=str(self.version))
        self.claims[claim.key] = stored = msgspec.structs.replace(claim, metadata=metadata)
        return stored

    def _write(self, claim: ResourceClaim, **fields) -> ResourceClaim:
        fate = self.fates.pop(0) if self.fates else "answer"
        if fate == LOST:
            raise Unreachable("no answer", sent=True)
        current = self.claims.get(claim.key)
        if current is None:
            raise NotFound(f"{claim.key} not found", 404)
        if (current.uid, _version(current)) != (claim.uid, _version(claim)):
            raise Conflict("the object has been modified", 409)
        stored = self.put(msgspec.structs.replace(current, **fields))
        if fate == HALF_LOST:
            raise Unreachable("no answer", sent=True)
        return stored

    async def set_finalizers(self, claim, finalizers):
        metadata = msgspec.structs.replace(claim.metadata, finalizers=tuple(finalizers))
        return self._write(claim, metadata=metadata)

    async def patch_claim_status(self, claim, status):
        return self._write(claim, status=patched(claim.status, status))

    async def remove_consumer(self, claim, uid):
        current = self.claims.get(claim.key)
        if current is None:
            raise NotFound(f"{claim.key} not found", 404)
        if current.uid != claim.uid:
            raise Conflict("it has another uid", 409)
        left = [each for each in current.status.reserved_for if each.uid != uid]
        return self._write(current, status=patched(current.status, {"reservedFor": left}))

    async def read(self, kind, key):
        if key not in self.claims:
            raise NotFound(f"{key} not found", 404)
        return self.claims[key]


def _version(claim):
    return claim.metadata.resource_version


class Claims(RuleBasedStateMachine):
    """Pods use one or two claims, which several pods may share.

    ``flights`` are by pod. ``in_doubt`` are the uids of claims of which a write got no answer,
    until the plugin has asked the API about them in the background.
    """

    @initialize()
    def begin(self) -> None:
        self.api = Api()
        self.uid = 0
        self.restart()
        for name in CLAIMS:
            self.create(name, count=1, is_late=False)

    def restart(self) -> None:
        """A new scheduler: it knows what the API has, and nothing of what was in flight."""
        self.trial = Trial(*two_nodes(DEVICES), *self.api.claims.values())
        self.trial.handle.client = self.api
        self.flights: dict[str, tuple[fwk.CycleState, object, str]] = {}
        self.in_doubt: set[str] = set()

    # --- users and the watch ---------------------------------------------------------------------

    @rule(name=st.sampled_from(CLAIMS), count=st.integers(1, 2), is_late=st.booleans())
    def create(self, name, count, is_late):
        key = f"default/{name}"
        if key not in self.api.claims:
            self.uid += 1
            self.api.put(resource_claim(name, uid=f"uid-{name}-{self.uid}", count=count))
        if not is_late:
            self.show(name)

    @rule(name=st.sampled_from(CLAIMS))
    def delete(self, name):
        self.api.claims.pop(f"default/{name}", None)

    @rule(name=st.sampled_from(CLAIMS))
    def show(self, name):
        """The watch shows the claim as it is now."""
        key = f"default/{name}"
        if key in self.api.claims:
            self.trial.cluster.set_object(self.api.claims[key])
        else:
            self.trial.cluster.remove_object(ResourceClaim, key)

    @rule(name=st.sampled_from(CLAIMS))
    def touch(self, name):
        """Somebody changes a label: the next write of an older version conflicts."""
        claim = self.api.claims.get(f"default/{name}")
        if claim is not None:
            self.api.put(claim)

    @rule(name=st.sampled_from(CLAIMS))
    def free(self, name):
        """A controller frees the claim, as no pod uses it any more."""
        claim = self.api.claims.get(f"default/{name}")
        if claim is not None and claim.status.allocation is not None:
            self.api.put(msgspec.structs.replace(claim, status=ResourceClaimStatus()))

    # --- the scheduler ---------------------------------------------------------------------------

    @rule(
        number=st.integers(0, 3),
        names=st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=2, unique=True),
    )
    def attempt(self, number, names):
        """Run a cycle for a pod, up to Reserve; if no node fits, PostFilter may free a claim."""
        name = f"pod-{number}"
        if name in self.flights:
            return
        trial, asking = self.trial, claiming(*names, name=name)
        if not trial.pre_filter(asking).ok:
            return
        feasible = trial.feasible(asking)
        if feasible:
            assert trial.plugin.reserve(trial.state, asking, feasible[0]) is None
            self.flights[name] = trial.state, asking, feasible[0]
        else:
            trial.post_filter(asking)

    @precondition(lambda self: self.flights)
    @rule(
        data=st.data(),
        fates=st.sampled_from(FATES),
        succeeds=st.booleans(),
    )
    def bind(self, data, fates, succeeds):
        """Run the binding; if PreBind or what follows it fails, all is undone."""
        name = data.draw(st.sampled_from(sorted(self.flights)))
        state, asking, node_name = self.flights.pop(name)
        self.api.fates = list(fates)
        trial, trial.state = self.trial, state
        is_done = trial.pre_bind(asking, node_name).ok and succeeds
        self.api.fates = []
        if not is_done:
            claims = state.get(PodClaims)
            self.in_doubt |= {claims.claims[index].uid for index in claims.in_doubt}
            trial.unreserve(asking, node_name)

    @precondition(lambda self: self.flights)
    @rule(data=st.data())
    def give_up(self, data):
        """The attempt fails before PreBind."""
        name = data.draw(st.sampled_from(sorted(self.flights)))
        state, asking, node_name = self.flights.pop(name)
        self.trial.state = state
        self.trial.unreserve(asking, node_name)

    @rule()
    def background(self):
        self.trial.run_spawned()
        self.in_doubt.clear()

    @rule()
    def crash(self):
        for _, work in self.trial.handle.spawned:
            work.close()
        self.restart()

    # --- what must hold --------------------------------------------------------------------------

    @invariant()
    def no_device_is_given_twice(self):
        if not hasattr(self, "api"):
            return
        allocations = [claim.status.allocation for claim in self.api.claims.values()]
        given = Counter(name for each in allocations for name in devices_of(each))
        assert all(count == 1 for count in given.values()), given

    @invariant()
    def what_is_in_flight_belongs_to_an_attempt(self):
        if hasattr(self, "api"):
            reserved = [state.get(PodClaims) for state, _, _ in self.flights.values()]
            uids = {claims.claims[index].uid for claims in reserved for index in claims.reserved}
            assert set(self.trial.devices._in_flight) <= uids | self.in_doubt

    @invariant()
    def what_is_taken_is_what_claims_have(self):
        if hasattr(self, "api"):
            self.trial.devices.check_invariants()

    def teardown(self):
        """Once nothing is under way and all was shown, exactly what the API has counts."""
        if not hasattr(self, "api"):
            return
        for state, asking, node_name in self.flights.values():
            self.trial.state = state
            self.trial.unreserve(asking, node_name)
        self.trial.run_spawned()
        for name in CLAIMS:
            self.show(name)
        allocations = [claim.status.allocation for claim in self.api.claims.values()]
        assert self.trial.taken == sorted(n for each in allocations for n in devices_of(each))
        assert self.trial.devices.in_flight == 0


TestClaims = Claims.TestCase
TestClaims.settings = examples(500, stateful_step_count=40)
