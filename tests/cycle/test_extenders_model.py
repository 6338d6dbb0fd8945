"""Cycles with extenders against a slow model of the rules; and with nothing kept between pods."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.cycle.extended import run_extended
from podium.cycle.extenders import Extenders
from podium.cycle.outcome import Rejected
from podium.errors import ExtenderError
from podium.framework.diagnosis import fit_message
from podium.testing.builders import pod
from tests.support import toys
from tests.support.cycle import Scheduler
from tests.support.search import examples
from tests.support.toy_extenders import ToyExtender

NAMES = ("a", "b", "c", "d")
DOWN = ExtenderError("it is down")

names = st.sampled_from((*NAMES, "unknown"))
texts = st.dictionaries(names, st.sampled_from(("busy", "broken")), max_size=3)
passing = st.lists(st.sampled_from(NAMES), unique=True) | st.lists(names, max_size=2, unique=True)
filters = st.none() | st.just(DOWN) | st.builds(fwk.Filtered, passing, texts, texts)
scores = st.none() | st.just(DOWN) | st.dictionaries(names, st.integers(-2, 12))


@dataclass(frozen=True)
class Wanted:
    """What one extender does."""

    filter: Any
    prioritize: Any
    weight: int
    ignorable: bool
    interested: bool

    def build(self):
        answers = {"filter": self.filter, "prioritize": self.prioritize}
        return ToyExtender(
            weight=self.weight,
            ignorable=self.ignorable,
            interested=self.interested,
            **{name: answer for name, answer in answers.items() if answer is not None},
        )


extenders = st.lists(
    st.builds(Wanted, filters, scores, st.integers(1, 3), st.booleans(), st.booleans()), max_size=3
)
clusters = st.lists(st.sampled_from((0, 10, 10, 60, None)), min_size=4, max_size=4)


def in_order(wanted):
    """Those that are asked, those that may be ignored last."""
    asked = [each for each in wanted if each.interested]
    return [e for e in asked if not e.ignorable] + [e for e in asked if e.ignorable]


def filtered(wanted, left):
    """(names that are left, what was said of others, the error if there is one)."""
    said = {}
    for each in in_order(wanted):
        if each.filter is None or not left:
            continue
        lies = isinstance(each.filter, fwk.Filtered) and not set(each.filter.names) <= set(left)
        if each.filter is DOWN or lies:
            if not each.ignorable:
                return left, said, True
            continue
        said |= {n: ("Unschedulable", t) for n, t in each.filter.failed.items() if n in left}
        final = each.filter.unresolvable
        said |= {n: ("UnschedulableAndUnresolvable", t) for n, t in final.items() if n in left}
        left = [name for name in left if name in each.filter.names]
    return left, said, False


def best(wanted, left, plugin):
    """The nodes one of which is chosen."""
    if len(left) == 1:
        return left
    totals = {name: plugin[name] for name in left}
    named = set()
    for each in in_order(wanted):
        if each.prioritize is None:
            named |= set(left)
        elif each.prioritize is not DOWN:
            for name, score in each.prioritize.items():
                named.add(name)
                if name in totals:
                    totals[name] += score * each.weight * 10
    top = [name for name in left if totals[name] == max(totals.values())]
    return [name for name in top if name in named] or top


def judge(plugin):
    """A filter that refuses nodes without a score."""
    full = fwk.Status.unschedulable("full")
    return toys.Filter("F", lambda pod, node: full if plugin[node.name] is None else None)


def build(plugin, score=toys.Score, reuse=True):
    scoring = score("S", lambda pod, node: plugin[node.name])
    return Scheduler(judge(plugin), scoring, nodes=NAMES, reuse=reuse)


def attempt(scheduler, wanted, subject):
    extenders = Extenders(each.build() for each in wanted)
    scheduler.services = replace(scheduler.services, extenders=extenders)
    outcome = asyncio.run(run_extended(scheduler.cycle(subject)))
    scheduler.cluster.check_invariants()
    return outcome


@examples(300)
@given(wanted=extenders, given_scores=clusters)
def test_a_cycle_follows_the_rules(wanted, given_scores):
    plugin = dict(zip(NAMES, given_scores, strict=True))
    feasible = [name for name in NAMES if plugin[name] is not None]
    left, said, fails = filtered(wanted, feasible)

    outcome = attempt(build(plugin), wanted, pod("web"))

    if fails:
        assert (outcome.status.code, outcome.diagnosis) == (fwk.Code.ERROR, None)
    elif left:
        assert outcome.record.node in best(wanted, left, plugin)
    else:
        assert isinstance(outcome, Rejected)
        found = {name: (s.code.value, *s.reasons) for name, s in outcome.diagnosis.statuses}
        full = {name: ("Unschedulable", "full") for name in NAMES if plugin[name] is None}
        assert found == full | said
        reasons = [text for _, text in (*full.values(), *said.values())]
        counts = {text: reasons.count(text) for text in reasons}
        assert outcome.message == fit_message(4, counts)
        blamed = ({"F"} if full else set()) | ({"Extender"} if feasible else set())
        assert outcome.diagnosis.unschedulable_plugins == blamed


def told(outcome):
    record = outcome.record
    return record.node, record.message, record.feasible, record.tied, record.best, record.rejected


@examples(150)
@given(story=st.lists(extenders, min_size=2, max_size=6), given_scores=clusters)
def test_what_is_kept_of_equal_pods_changes_nothing(story, given_scores):
    """Extenders come, go and change their minds from pod to pod."""
    plugin = dict(zip(NAMES, given_scores, strict=True))
    kept, scratch = (build(plugin, toys.Normalizing, reuse) for reuse in (True, False))
    for number, wanted in enumerate(story):
        subject = pod(f"web-{number}")
        assert told(attempt(kept, wanted, subject)) == told(attempt(scratch, wanted, subject))
