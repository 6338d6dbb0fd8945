"""Many candidates whose clocks disagree, on a network that loses and delays, with pauses and
crashes: two never lead at once for longer than the durations allow, and somebody leads in the end.
"""

import heapq
import itertools
import random
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from podium.config import LeaderElection
from podium.errors import Conflict, NotFound, Unreachable
from podium.live.election import JITTER_FACTOR, Elector, Get, Leading, Lost, Stopped, Wait
from podium.metrics import Metrics
from tests.support.search import examples

EPSILON = 1e-6
FOREVER = float("inf")


class World:
    """True time, and the Lease as the API keeps it; each write that it accepts is checked."""

    def __init__(self):
        self.now = 0.0
        self._due = []
        self._order = itertools.count()
        self.record = None
        self.version = 0

    def later(self, seconds, call):
        heapq.heappush(self._due, (self.now + seconds, next(self._order), call))

    def run_until(self, end):
        while self._due and self._due[0][0] <= end:
            self.now, _, call = heapq.heappop(self._due)
            call()
        self.now = end

    def serve(self, writer, step, version):
        """The record and its version, or the fault that the API answers with."""
        if isinstance(step, Get):
            return (self.record, self.version) if self.record else NotFound("no lease")
        if version != self.version:
            return Conflict("newer")
        check_write(writer, self.record, step.record)
        self.record = step.record
        self.version += 1
        return None, self.version


def check_write(writer, old, new):
    if old is None:
        assert (new.holder, new.transitions) == (writer, 0)
    elif not new.holder:
        assert old.holder == writer, "only its holder releases a lease"
        assert (new.transitions, new.duration_seconds) == (old.transitions, 1)
    elif old.holder == new.holder:
        assert (new.transitions, new.acquire_time) == (old.transitions, old.acquire_time)
    else:
        assert new.transitions == old.transitions + 1
        assert new.acquire_time == new.renew_time


@dataclass(frozen=True)
class Network:
    """Requests take up to ``latency`` each way; some get lost, and so do some answers."""

    chance: random.Random
    latency: float
    lost: float

    def delay(self):
        return FOREVER if self.chance.random() < self.lost else self.chance.random() * self.latency


@dataclass(frozen=True)
class SkewedClock:
    world: World
    offset: float
    rate: float

    def now(self):
        return self.offset + self.world.now * self.rate


@dataclass
class Candidate:
    """Drives an elector in true time; while it is paused nothing happens in it."""

    world: World
    network: Network
    clock: SkewedClock
    elector: Elector
    pauses: list = field(default_factory=list)  # (from, to)
    crash_at: float = FOREVER
    stop_at: float = FOREVER
    led: list = field(default_factory=list)  # [from, to]

    def start(self):
        self.version = 0
        self.is_ending = False
        self.steps = self.elector.run()
        self.carry_out(next(self.steps))

    def go_on(self, advance):
        now = self.world.now
        if now >= self.crash_at:
            return
        for start, end in self.pauses:
            if start <= now < end:
                self.world.later(end - now, lambda: self.go_on(advance))
                return
        try:
            self.carry_out(self.stop() if now >= self.stop_at and not self.is_ending else advance())
        except StopIteration:
            return

    def stop(self):
        self.stop_leading()
        return self.steps.throw(Stopped())

    def carry_out(self, step):
        match step:
            case Leading():
                self.led.append([self.world.now, FOREVER])
                self.carry_out(self.steps.send(None))
            case Lost():
                self.stop_leading()
                self.carry_out(self.steps.send(None))
            case Wait(seconds):
                self.after(seconds / self.clock.rate, lambda: self.steps.send(None))
            case _:
                self.request(step)

    def stop_leading(self):
        self.is_ending = True
        if self.led:
            self.led[-1][1] = self.world.now

    def after(self, seconds, advance):
        self.world.later(seconds, lambda: self.go_on(advance))

    def request(self, step):
        """It is served when it arrives, even if nobody waits for the answer any more."""
        there, back, answer, version = self.network.delay(), self.network.delay(), [], self.version

        def arrive():
            answer.append(self.world.serve(self.elector.identity, step, version))

        if there < FOREVER:
            self.world.later(there, arrive)
        timeout = step.timeout / self.clock.rate
        if there + back < timeout:
            self.after(there + back, lambda: self.take(*answer))
        else:
            self.after(timeout, lambda: self.steps.throw(Unreachable("timeout")))

    def take(self, answer):
        if isinstance(answer, Exception):
            return self.steps.throw(answer)
        record, self.version = answer
        return self.steps.send(record)


moments = st.floats(0, 200)
rates = st.floats(0.9, 1.1)


@st.composite
def elections(draw, slack):
    """Durations that pass the check; without slack far too tight ones, too.

    Renewals within one second look alike, so a lease must outlast a period and a second.
    """
    retry = draw(st.floats(0.2, 3))
    deadline = JITTER_FACTOR * retry + draw(st.floats(0.1, 10))
    lease = int(deadline) + draw(st.integers(1, 12)) + slack
    return LeaderElection(True, lease, deadline, retry)


@st.composite
def pauses(draw):
    starts = draw(st.lists(moments, max_size=2))
    return [(start, start + draw(st.floats(0, 40))) for start in starts]


@st.composite
def worlds(draw, is_good):
    """On a good network nothing is lost and nobody pauses."""
    world = World()
    election = draw(elections(slack=2 if is_good else draw(st.sampled_from([0, 20]))))
    latency, lost = (0.05, 0.0) if is_good else (draw(st.floats(0, 4)), draw(st.floats(0, 0.6)))
    network = Network(random.Random(draw(st.integers(0, 2**32))), latency, lost)
    candidates = []
    for name in "abc"[: draw(st.integers(2, 3))]:
        clock = SkewedClock(world, draw(st.floats(0, 1e9)), draw(rates))
        chance = network.chance.random
        elector = Elector(name, election, clock, Metrics(), chance)
        paused = [] if is_good else draw(pauses())
        candidates.append(Candidate(world, network, clock, elector, paused))
        world.later(draw(st.floats(0, 10)), candidates[-1].start)
    return world, election, candidates


def overlap(one, other):
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))


def longest_overlap(election, pause):
    """After its last write a leader hears of it within a request's time, waits for a period, and
    tries until the deadline; the others wait for the lease to run out from that write on, or from
    one in the same second before it. What the durations leave open between the two is open in
    client-go as well."""
    request = max(1.0, election.renew_deadline / 2)
    stops = (1 + request + election.retry_period + election.renew_deadline) / 0.9 + pause
    return max(0.0, stops - election.lease_duration / 1.1)


@examples(150)
@given(worlds(is_good=False), st.data())
def test_two_lead_at_once_no_longer_than_the_durations_allow(setting, data):
    world, election, candidates = setting
    for candidate in candidates:
        if data.draw(st.booleans()):
            candidate.stop_at = data.draw(moments)

    world.run_until(250)

    for one, other in itertools.permutations(candidates, 2):
        pause = sum(end - start for start, end in one.pauses)
        allowed = longest_overlap(election, pause) + EPSILON
        for first, second in itertools.product(one.led, other.led):
            if first[0] <= second[0]:
                assert overlap(first, second) <= allowed


@examples(100)
@given(worlds(is_good=True), moments)
def test_when_the_leader_dies_another_leads_within_the_bound(setting, moment):
    world, election, candidates = setting
    world.run_until(moment + 30)
    leaders = [each for each in candidates if each.led]
    assert len(leaders) == 1, "on a good network nobody takes the lease of a living leader"
    died = world.now
    leaders[0].crash_at = died

    longest_wait = election.retry_period * (1 + JITTER_FACTOR)
    seen, requests = longest_wait, 4 * 2 * 0.05
    bound = (seen + election.lease_duration + longest_wait) / 0.9 + requests
    world.run_until(died + bound)

    heirs = [each for each in candidates if each.led and each is not leaders[0]]
    assert len(heirs) == 1
    assert heirs[0].led[0][0] > died


@examples(60)
@given(worlds(is_good=True))
def test_a_released_lease_is_taken_at_the_next_look(setting):
    world, election, candidates = setting
    world.run_until(60)
    (leader,) = [each for each in candidates if each.led]
    leader.stop_at = stopped = world.now

    bound = election.retry_period + election.retry_period * (1 + JITTER_FACTOR) / 0.9 + 1
    world.run_until(stopped + bound)

    (heir,) = [each for each in candidates if each.led and each is not leader]
    assert heir.led[0][0] > leader.led[0][1]
