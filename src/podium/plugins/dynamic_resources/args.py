"""DynamicResourcesArgs: how long to search for devices on a node, and to wait for prepared ones."""

from __future__ import annotations

from collections.abc import Iterator

from podium import durations
from podium.framework.args import Args, Problem, invalid


class DynamicResourcesArgs(Args, frozen=True, rename="camel"):
    """``filter_timeout`` is for one node; 0 means that there is no limit.

    An argument is ``None`` if its feature gate is off.
    """

    filter_timeout: durations.Duration | None = 10.0
    binding_timeout: durations.Duration | None = 600.0

    def validate(self) -> Iterator[Problem]:
        if self.filter_timeout is not None and self.filter_timeout < 0:
            yield _invalid("filterTimeout", self.filter_timeout, "must be zero or positive")
        if self.binding_timeout is not None and self.binding_timeout < 1:
            yield _invalid("bindingTimeout", self.binding_timeout, "must be at least 1 second")


def _invalid(path: str, seconds: float, detail: str) -> Problem:
    return invalid(path, durations.format(seconds), detail)
