"""Leader election where the API server chooses; the expected steps are client-go's."""

import asyncio

import msgspec
import pytest

from podium.api.objects import LeaseCandidate
from podium.api.times import micro_time_text
from podium.clock import FakeClock, give_way
from podium.config import LeaderElection
from podium.errors import Conflict, NotFound, Unreachable
from podium.live.coordinated_election import CoordinatedElector
from podium.live.election import Get, Leading, Lost, Record, Update, Wait
from podium.live.lease_candidate import RENEW_SECONDS, LeaseCandidacy
from podium.live.lease_lock import record_of, spec_of
from podium.metrics import Metrics
from podium.release import V1_36

START = 1_700_000_000.0
OLDEST = "OldestEmulationVersion"
CHOSEN = Record("me", 5, START - 1, START - 1, 3, OLDEST)
THEIRS = Record("other", 15, START - 60, START - 1, 4, OLDEST)


class Steps:
    """A candidate led by hand: each method answers one step and returns the next one."""

    def __init__(self):
        self.clock = FakeClock(START)
        self.metrics = Metrics()
        settings = LeaderElection()
        self.elector = CoordinatedElector("me", settings, self.clock, self.metrics, lambda: 0)
        self.steps = self.elector.run()
        self.step = next(self.steps)

    def answer(self, record=None):
        self.step = self.steps.send(record)
        return self.step

    def fail(self, fault):
        self.step = self.steps.throw(fault)
        return self.step

    def wait(self):
        assert isinstance(self.step, Wait)
        self.clock.advance(self.step.seconds)
        return self.answer()


def leading():
    """A candidate that was chosen and has renewed the lease once."""
    steps = Steps()
    steps.answer(CHOSEN)
    assert isinstance(steps.answer(), Leading)
    return steps


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(THEIRS, id="held-by-another"),
        pytest.param(Record("", 1, START, START, 2), id="released"),
        pytest.param(Record("other", 0, START, START, 2, OLDEST), id="held-shortly"),
    ],
)
def test_a_lease_is_never_taken(found):
    steps = Steps()
    assert isinstance(steps.step, Get)

    for _ in range(30):  # long after it has run out
        assert isinstance(steps.answer(found), Wait)
        assert isinstance(steps.wait(), Get)


def test_a_lease_that_is_missing_is_not_created():
    steps = Steps()

    assert isinstance(steps.fail(NotFound("no lease")), Wait)
    assert isinstance(steps.wait(), Get)


def test_the_chosen_candidate_renews_and_leads():
    steps = Steps()

    written = steps.answer(CHOSEN)
    assert isinstance(written, Update)
    assert written.record == Record("me", 15, START - 1, START, 3, OLDEST)
    assert isinstance(steps.answer(), Leading)


def test_each_renewal_reads_the_lease_first():
    steps = leading()
    held = Record("me", 15, START - 1, START, 3, OLDEST)

    assert isinstance(steps.answer(), Get)
    written = steps.answer(held)
    assert (written.record.acquire_time, written.record.strategy) == (START - 1, OLDEST)
    assert isinstance(steps.answer(), Wait)


def test_a_lease_of_ours_that_did_not_change_for_its_duration_has_expired():
    steps = Steps()
    assert isinstance(steps.answer(CHOSEN), Update)
    assert isinstance(steps.fail(Unreachable("cut")), Wait)
    steps.clock.advance(CHOSEN.duration_seconds)

    assert isinstance(steps.wait(), Get)
    assert isinstance(steps.answer(CHOSEN), Wait)


def test_a_leader_whose_term_ends_gives_up_after_the_renew_deadline():
    steps = leading()
    ending = Record("me", 15, START - 1, START, 3, OLDEST, preferred_holder="other")
    begun = steps.clock.now()
    step = steps.answer()
    while not isinstance(step, Lost):
        assert isinstance(step, Get)
        step = steps.answer(ending)
        if isinstance(step, Wait):
            step = steps.wait()

    assert steps.clock.now() - begun <= LeaderElection().renew_deadline
    assert isinstance(steps.answer(), Get)
    released = steps.answer(ending)
    assert (released.record.holder, released.record.preferred_holder) == ("", "")


def test_strategy_and_preferred_holder_are_read_and_written():
    record = Record("me", 15, START, START, 3, OLDEST, "other")

    assert record_of(spec_of(record)) == record
    assert record != Record("me", 15, START, START, 3, OLDEST)


# --- the candidate -------------------------------------------------------------------------------


class Server:
    """Stands for informer and client: what is written is seen at once."""

    def __init__(self):
        self.candidate = None
        self.written = []
        self.fault = None
        self.told = None

    def subscribe(self, handler):
        self.told = handler

    def get(self, key):
        assert key == "kube-system/me"
        return self.candidate

    async def run(self):
        await asyncio.Event().wait()

    async def wait_synced(self):
        pass

    async def create_candidate(self, candidate):
        self._write("create", candidate)

    async def update_candidate(self, candidate):
        self._write("update", candidate)

    def _write(self, verb, candidate):
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        self.written.append((verb, candidate.spec.renew_time))
        self.see(candidate)

    def see(self, candidate):
        old, self.candidate = self.candidate, candidate
        self.told(old, candidate)

    def ping(self, moment):
        spec = msgspec.structs.replace(self.candidate.spec, ping_time=micro_time_text(moment))
        self.see(msgspec.structs.replace(self.candidate, spec=spec))


def stand(scene):
    async def run():
        server, clock = Server(), FakeClock(START)
        candidacy = LeaseCandidacy("me", V1_36, server, server, clock)
        standing = asyncio.ensure_future(candidacy.run())
        await turns()
        await scene(server, clock)
        standing.cancel()
        await asyncio.wait({standing})

    asyncio.run(run())


async def turns():
    for _ in range(10):
        await give_way()


def test_a_candidate_tells_its_versions_and_how_to_choose():
    async def scene(server, clock):
        assert [verb for verb, _ in server.written] == ["create"]
        assert isinstance(server.candidate, LeaseCandidate)
        spec = server.candidate.spec
        assert (spec.binary_version, spec.emulation_version) == ("1.37.0", "1.36.0")
        assert (spec.lease_name, spec.strategy) == ("kube-scheduler", OLDEST)

    stand(scene)


@pytest.mark.parametrize(("at", "answered"), [(START + 3, True), (START - 3, False)])
def test_a_ping_after_the_last_renewal_is_answered(at, answered):
    async def scene(server, clock):
        clock.advance(4)
        server.ping(at)
        await turns()
        renewed = ("update", micro_time_text(START + 4))
        assert (renewed in server.written) is answered

    stand(scene)


def test_a_candidate_is_renewed_from_time_to_time():
    async def scene(server, clock):
        clock.advance(RENEW_SECONDS)
        await turns()
        assert server.written[1:] == [("update", micro_time_text(START + RENEW_SECONDS))]

    stand(scene)


def test_a_write_that_fails_is_tried_again(caplog):
    async def scene(server, clock):
        server.fault = Conflict("changed", 409)
        clock.advance(RENEW_SECONDS)
        await turns()
        assert len(server.written) == 1
        clock.advance(2)  # more than the first pause
        await turns()
        assert len(server.written) == 2

    stand(scene)

    assert "Ensuring lease failed" in caplog.text
