"""Replays cases through the real core, each on a core of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podium.api.objects import Pod, validate
from podium.conformance.attempt import replay_attempt
from podium.conformance.cases import (
    AnyCase,
    AttemptCase,
    HintCase,
    RegistrationCase,
    SequenceCase,
    UpdateCase,
)
from podium.conformance.core import Workshop, objects_of, parse
from podium.conformance.events import replay_hint, replay_registrations, replay_update
from podium.conformance.outcome import Comparison, Outcome
from podium.conformance.sequence import replay_sequence
from podium.errors import CacheError, ConfigError, InvalidObject, InvalidRecording
from podium.logs import get_logger

log = get_logger(__name__)


def replay_all(cases: Iterable[AnyCase], workshop: Workshop) -> Iterator[Outcome]:
    return (replay(case, workshop) for case in cases)


def replay(case: AnyCase, workshop: Workshop) -> Outcome:
    """Replay one case. What breaks on the way is a difference; what cannot be read is raised."""
    outcome = Outcome(case.name, case.family)
    compare = Comparison(outcome)
    try:
        _replay(case, workshop, compare)
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
    """Tell of objects that no API server would store: they may be why something differs.

    A case that agrees is not looked at: kube-scheduler takes objects as they come, too.
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


def _replay(case: AnyCase, workshop: Workshop, compare: Comparison) -> None:
    match case:
        case AttemptCase():
            replay_attempt(case, workshop, compare)
        case SequenceCase():
            replay_sequence(case, workshop, compare)
        case HintCase():
            replay_hint(case, workshop, compare)
        case UpdateCase():
            replay_update(case, compare)
        case RegistrationCase():
            replay_registrations(case, workshop, compare)
