"""What a filter said last of all candidates: for the judgement, which may hear the same again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.framework.plugin import Statuses


class LastAnswer:
    """An answer, and the verdicts that came of it.

    It counts until a row is asked for alone, and for nothing while rows are pending.
    """

    __slots__ = ("_statuses", "verdicts")

    def __init__(self, statuses: Statuses, verdicts: NDArray[np.intp]) -> None:
        self._statuses = statuses
        self.verdicts = verdicts

    def equals(self, statuses: Statuses) -> bool:
        """A plugin that answers by domain gives the same index again, and few values."""
        last = self._statuses
        return statuses.index is last.index and statuses.values == last.values
