"""PodTopologySpreadArgs: the constraints for pods that have none of their own."""

from collections import Counter
from collections.abc import Iterable, Iterator

from podium import framework as fwk
from podium.api.names import label_key_problems
from podium.api.nodes import HOSTNAME, ZONE
from podium.api.objects import TopologySpreadConstraint
from podium.framework.args import invalid

HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"

SYSTEM = "System"
LIST = "List"

SYSTEM_CONSTRAINTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SOFT),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=SOFT),
)


class SpreadArgs(fwk.Args, frozen=True, rename="camel"):
    """``System`` uses two built-in soft constraints, ``List`` those of ``defaultConstraints``."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = SYSTEM

    @property
    def is_system(self) -> bool:
        return self.defaulting_type in ("", SYSTEM)

    @property
    def defaults(self) -> tuple[TopologySpreadConstraint, ...]:
        return SYSTEM_CONSTRAINTS if self.is_system else self.default_constraints

    def validate(self) -> Iterable[fwk.Problem]:
        given = self.default_constraints
        if not self.is_system and self.defaulting_type != LIST:
            yield _unsupported("defaultingType", self.defaulting_type, (SYSTEM, LIST))
        elif self.is_system and given:
            message = f'Invalid value: "{SYSTEM}": when .defaultConstraints are not empty'
            yield fwk.Problem("defaultingType", message)
        repeated: Counter[tuple[str, str]] = Counter()
        for index, constraint in enumerate(given):
            path = f"defaultConstraints[{index}]"
            yield from _problems(constraint, path)
            both = (constraint.topology_key, constraint.when_unsatisfiable)
            if repeated[both]:
                yield fwk.Problem(path, f'Duplicate value: "{{{both[0]}, {both[1]}}}"')
            repeated[both] += 1


def _problems(constraint: TopologySpreadConstraint, path: str) -> Iterator[fwk.Problem]:
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
    yield from _key_problems(constraint.topology_key, f"{path}.topologyKey")
    yield from _action_problems(constraint.when_unsatisfiable, f"{path}.whenUnsatisfiable")
    if constraint.label_selector is not None:
        message = "constraint must not define a selector, as they deduced for each pod"
        yield fwk.Problem(f"{path}.labelSelector", f"Forbidden: {message}")


def _key_problems(key: str, path: str) -> Iterator[fwk.Problem]:
    if not key:
        yield fwk.Problem(path, "Required value: can not be empty")
        return
    for problem in label_key_problems(key):
        yield fwk.Problem(path, f'Invalid value: "{key}": {problem}')


def _action_problems(action: str, path: str) -> Iterator[fwk.Problem]:
    if not action:
        yield fwk.Problem(path, "Required value: can not be empty")
    elif action not in (HARD, SOFT):
        yield _unsupported(path, action, (HARD, SOFT))


def _unsupported(path: str, value: str, supported: tuple[str, ...]) -> fwk.Problem:
    known = ", ".join(f'"{name}"' for name in supported)
    return fwk.Problem(path, f'Unsupported value: "{value}": supported values: {known}')
