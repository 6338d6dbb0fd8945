"""A replay on one node as the documentation tells it: lists that are searched and sorted.

Pods request cpu only, evict nobody and leave after less than five minutes.
"""

import math
from dataclasses import dataclass


@dataclass
class Waiting:
    """A pod without a node. ``since`` is when it last entered the queue, or last failed."""

    arrival: dict
    since: float
    entered: int
    failures: int = 0
    queue: str = "active"

    @property
    def rank(self):
        return -self.arrival.get("priority", 0), self.since, self.entered

    @property
    def expiry(self):
        return math.floor(self.since + min(10, 2 ** (self.failures - 1)))


class Model:
    def __init__(self, cpu):
        self.free = cpu
        self.waiting = []
        self.ends = {}  # of the pods that run, by name
        self.running = {}  # their cpu
        self.bound = {}
        self.entered = 0

    def run(self, lines):
        moments = {line["time"] for line in lines}
        while moments:
            now = min(moments)
            moments.discard(now)
            for name in [name for name, end in self.ends.items() if end == now]:
                self.leave(name, now)
            for line in lines:
                if line["time"] == now:
                    self.take(line, now)
            self.schedule(now)
            moments |= {end for end in self.ends.values() if end > now}
            if any(end == now for end in self.ends.values()):
                moments.add(now)  # pods that run for no time; lines are not taken twice
                lines = [line for line in lines if line["time"] != now]
        return self.bound

    def take(self, line, now):
        name = line["name"]
        if line["event"] == "arrive":
            self.entered += 1
            self.bound[name] = None
            self.waiting.append(Waiting(line, now, self.entered))
        elif name in self.running:
            self.leave(name, now)
        else:
            self.waiting = [one for one in self.waiting if one.arrival["name"] != name]

    def leave(self, name, now):
        self.free += self.running.pop(name)
        self.ends.pop(name, None)
        for one in self.waiting:
            if one.queue == "unschedulable":
                one.queue = "backoff" if one.expiry >= math.floor(now) else "active"

    def schedule(self, now):
        while (one := self.next()) is not None:
            name, cpu = one.arrival["name"], int(one.arrival["requests"]["cpu"])
            if cpu <= self.free:
                self.free -= cpu
                self.running[name], self.bound[name] = cpu, now
                self.waiting.remove(one)
                if "duration" in one.arrival:
                    self.ends[name] = now + one.arrival["duration"]
            else:
                self.entered += 1
                one.failures += 1
                one.since, one.entered, one.queue = now, self.entered, "unschedulable"

    def next(self):
        active = [one for one in self.waiting if one.queue == "active"]
        if active:
            return min(active, key=lambda one: one.rank)
        backing_off = [one for one in self.waiting if one.queue == "backoff"]
        return min(backing_off, key=lambda one: (one.expiry, one.rank), default=None)
