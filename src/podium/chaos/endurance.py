"""A long day without disasters: churn, broken watches, new settings and certificates, flat memory.

``make endurance`` runs it for 24 simulated hours. Unlike a trial it keeps both schedulers alive,
so that what they hold can be compared from hour to hour.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import ClassVar, Final

from podium.chaos import trial
from podium.chaos.certificates import ReplacedCertificates
from podium.chaos.report import Report
from podium.chaos.script import Script, Step
from podium.chaos.trial import Json, Trial
from podium.clock import FakeClock, sleep
from podium.live.running import RunningScheduler

HOUR: Final = 3600.0
_RELOAD_SECONDS: Final = 900.0
_POD_SECONDS: Final = 20.0
_POD_LIFE_SECONDS: Final = 300.0
_NODES: Final = 5


def draw(hours: float, seed: int = 1) -> Script:
    """Draw a day: a pod every 20 s that lives for minutes, a broken watch every few minutes."""
    chance = Random(seed)
    seconds = hours * HOUR
    steps = [Step(0.0, "create-node", f"n{number}", 0, 2000) for number in range(_NODES)]
    for number in range(round(seconds / _POD_SECONDS)):
        at = number * _POD_SECONDS + chance.uniform(0, _POD_SECONDS)
        ends = at + chance.expovariate(1 / _POD_LIFE_SECONDS)
        steps.append(Step(at, "create-pod", f"p{number}", 0, chance.choice((200, 400, 800))))
        steps.append(Step(min(ends, seconds), "delete-pod", f"p{number}"))
    for number in range(round(seconds / 240)):
        what = chance.choice(("watch-cut", "gone", "reset", "watch-silence"))
        at = number * 240 + chance.uniform(0, 200)
        steps.append(Step(at, what, "all", 5, 60, chance.getrandbits(32)))
    return Script(seed, seconds, tuple(sorted(steps, key=lambda step: step.at)))


class LongDay(Trial):
    """A trial that changes settings and certificates every quarter of an hour and counts objects.

    A longer lease than usual halves the requests of a day.
    """

    election: ClassVar[Json] = {
        "leaseDuration": "60s",
        "renewDeadline": "40s",
        "retryPeriod": "10s",
    }

    def __init__(self, script: Script, clock: FakeClock) -> None:
        super().__init__(script, clock)
        self.reloads = 0
        self.objects: list[int] = []
        self._folder = tempfile.TemporaryDirectory()
        self.certificates = ReplacedCertificates(Path(self._folder.name), clock)

    async def run(self) -> Report:
        keeping = asyncio.ensure_future(self.certificates.run())
        try:
            with self._folder:
                return await super().run()
        finally:
            keeping.cancel()

    async def _look(self) -> None:
        """Look less often than a trial does: a day has 86,400 seconds."""
        begun = self._clock.now()
        while True:
            await sleep(self._clock, _RELOAD_SECONDS)
            for scheduler in self._schedulers():
                self._check_inside(scheduler)
                self._reload(scheduler)
            self._rotate()
            gc.collect()
            self.objects.append(_count_objects())
            hours = (self._clock.now() - begun) / HOUR
            print(f"{hours:.2f} h: {self.objects[-1]} objects", flush=True)

    def _rotate(self) -> None:
        """Replace the certificates, after a look at what became of the last ones."""
        if problem := self.certificates.problem():
            self._invariants.fail("replaced certificates are used", problem)
        self.certificates.rotate()

    def _reload(self, scheduler: RunningScheduler) -> None:
        """Exchange the configuration, as a changed file does."""
        self.reloads += 1
        registry = self._registry
        changed = trial.configuration(registry, self.election, backoff=5 + self.reloads % 5)
        scheduler.exchange(changed, registry)


def _count_objects() -> int:
    """Count the objects of this process, without the history of changes of the API server.

    That history grows for hours before it is as long as it may become.
    """
    modules = (str(type(each).__module__) for each in gc.get_objects())
    return sum(1 for module in modules if not module.startswith("podium.apiserver"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a long day in simulated time.")
    parser.add_argument("--hours", type=float, default=24.0)
    args = parser.parse_args()
    logging.getLogger("podium").setLevel(logging.CRITICAL)  # broken watches are expected
    begun = time.monotonic()
    days: list[LongDay] = []
    report = trial.run(draw(args.hours), lambda script, clock: _kept(days, script, clock))
    [day] = days
    for violation in report.violations:
        print(violation)
    first, last = day.objects[len(day.objects) // 2], day.objects[-1]
    growth = 100 * (last - first) / first
    print(
        f"{args.hours:g} simulated hours in {time.monotonic() - begun:.0f} s: "
        f"{report.bindings} pods bound, {report.faults} faults, {day.reloads} reloads, "
        f"{day.certificates.rotations} rotations of certificates, "
        f"{report.leaders} leaders, {len(report.violations)} violations; "
        f"objects {first} at half time, {last} at the end ({growth:+.1f} %)"
    )
    return 1 if report.violations else 0


def _kept(days: list[LongDay], script: Script, clock: FakeClock) -> LongDay:
    days.append(LongDay(script, clock))
    return days[-1]


if __name__ == "__main__":
    sys.exit(main())
