"""What a plugin's results depend on, so that only what changed is worked out again."""

from __future__ import annotations

from dataclasses import dataclass

from podium.state.aspects import Aspect


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The aspects of the cluster that a plugin's results for a pod depend on.

    ``node``, ``cluster`` and ``scoring`` are sums of ``Aspect`` bits:
    ``node``     a change of one of these on a node outdates the results for that node alone.
    ``cluster``  a change of one of these anywhere outdates all results of PreFilter and Filter.
    ``scoring``  is what ``cluster`` is, for PreScore and Score; by default the same as ``cluster``.
    ``feasible`` tells whether PreScore looks at which nodes are feasible.
    ``scores_alike`` tells that all nodes have one score, which never changes: Score is asked once.
    """

    node: int = 0
    cluster: int = 0
    feasible: bool = False
    scoring: int | None = None
    scores_alike: bool = False

    def __post_init__(self) -> None:
        for bits in (self.node, self.cluster, self.for_scores):
            if not isinstance(bits, int):
                raise TypeError(f"expected a sum of fwk.Aspect bits, got {bits!r}")
            if not are_aspects(bits):
                raise ValueError(f"{bits!r} has bits that are not in fwk.Aspect.ALL")

    @property
    def for_scores(self) -> int:
        return self.cluster if self.scoring is None else self.scoring


def are_aspects(bits: int) -> bool:
    """Whether these are aspects that exist, or all but some of these (``~Aspect.PODS``)."""
    return ~Aspect.ALL <= bits <= Aspect.ALL


NOTHING = Dependencies()
EVERYTHING = Dependencies(node=Aspect.ALL, cluster=Aspect.ALL, feasible=True)


def as_dependencies(answer: object) -> Dependencies:
    """Check what a plugin's ``depends_on`` returned."""
    if isinstance(answer, Dependencies):
        return answer
    raise TypeError(f"depends_on must return fwk.Dependencies, not {answer!r}")
