"""What a plugin's answers depend on, so that only what changed is judged again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from podium.state.aspects import Aspect


@dataclass(frozen=True, slots=True)
class Reads:
    """Sums of ``Aspect`` bits.

    ``node``     a change of these on a node outdates the answers for that node alone.
    ``cluster``  a change of these anywhere outdates all answers of PreFilter and Filter.
    ``scoring``  the same for PreScore and Score; as ``cluster`` unless said otherwise.
    ``feasible`` its PreScore looks at which nodes are feasible.
    """

    node: int = 0
    cluster: int = 0
    feasible: bool = False
    scoring: int | None = None

    def __post_init__(self) -> None:
        for bits in (self.node, self.cluster, self.for_scores):
            if not isinstance(bits, int):
                raise TypeError(f"it reads {bits!r}, which is no sum of aspects")

    @property
    def for_scores(self) -> int:
        return self.cluster if self.scoring is None else self.scoring


NOTHING = Reads()
EVERYTHING = Reads(node=Aspect.ALL, cluster=Aspect.ALL, feasible=True)


def as_reads(answer: object) -> Reads:
    """What a plugin said that it reads; anything else is a fault of the plugin."""
    if isinstance(answer, Reads):
        return answer
    raise TypeError(f"it reads {answer!r}, which is no Reads of aspects")


@lru_cache(maxsize=1024, typed=True)
def reads(
    *, node: int = 0, cluster: int = 0, feasible: bool = False, scoring: int | None = None
) -> Reads:
    """The same object for the same aspects: plugins ask for each kind of pod."""
    return Reads(node, cluster, feasible, scoring)
