"""Replays cases through the real core, with a new core for each case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podium.api.objects import Pod, validate
from podium.conformance.attempt import replay_attempt
from podium.conformance.cases import (
    AmbiguousCase,
    AnyCase,
    AttemptCase,
    HintCase,
    RegistrationCase,
    SequenceCase,
    UpdateCase,
)
from podium.conformance.core import CoreBuilder, objects_of, parse
from podium.conformance.events import replay_hint, replay_registrations, replay_update
from podium.conformance.outcome import Comparison, Outcome
from podium.conformance.sequence import replay_sequence
from podium.errors import CacheError, ConfigError, InvalidObject, InvalidRecording
from podium.logs import get_logger

log = get_logger(__name__)


def replay_all(cases: Iterable[AnyCase], builder: CoreBuilder) -> Iterator[Outcome]:
    return (replay(case, builder) for case in cases)


def replay(case: AnyCase, builder: CoreBuilder) -> Outcome:
    """Replay one case. An exception on the way is a difference; invalid input is raised."""
    outcome = Outcome(case.name, case.family)
    compare = Comparison(outcome)
    try:
        _replay(case, builder, compare)
        if outcome.failed:
            _explain(case, compare)
    except InvalidRecording:
        raise
    except (CacheError, ConfigError, InvalidObject) as error:
        raise InvalidRecording(case.source, str(error)) from error
    except Exception as fault:
        log.error("replay failed", case=case.name)
        compare.differ("replay", "an outcome", f"{type(fault).__name__}: {fault}")
    return outcome


def _explain(case: AnyCase, compare: Comparison) -> None:
    """Report objects that no API server would store, as they may explain a difference.

    Cases that agree are not checked, because kube-scheduler does not validate objects either.
    """
    match case:
        case AttemptCase() | HintCase():
            pods = [case.pod]
        case SequenceCase():
            pods = [step.pod for step in case.steps if step.expect is not None]
        case _:
            return
    for obj in (*objects_of(case.cluster), *(parse(Pod, pod) for pod in pods)):
        try:
            validate(obj)
        except InvalidObject as error:
            compare.differ("objects", "what an API server stores", str(error))


def _replay_alternatives(case: AmbiguousCase, builder: CoreBuilder, compare: Comparison) -> None:
    """Compare with each right outcome; if none is met, report the one that is closest."""
    outcomes = [replay(each, builder) for each in case.alternatives()]
    closest = min(outcomes, key=lambda outcome: len(outcome.differences))
    compare.outcome.differences += closest.differences
    compare.outcome.left_out |= closest.left_out


def _replay(case: AnyCase, builder: CoreBuilder, compare: Comparison) -> None:
    match case:
        case AttemptCase():
            replay_attempt(case, builder, compare)
        case AmbiguousCase():
            _replay_alternatives(case, builder, compare)
        case SequenceCase():
            replay_sequence(case, builder, compare)
        case HintCase():
            replay_hint(case, builder, compare)
        case UpdateCase():
            replay_update(case, builder, compare)
        case RegistrationCase():
            replay_registrations(case, builder, compare)
