"""Selectors of classes and requests: each is compiled once, and asked once about each device.

An error is kept like an answer. It is raised when the search reaches the device, and not before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from podium.devices.contents import KnownDevice, SliceContent
from podium.devices.rules import DeviceRules
from podium.errors import EvaluationError, InvalidExpression
from podium.release import Release

if TYPE_CHECKING:
    from podium.cel import Selector


class Selectors:
    """Answers whether selectors match devices. A text as an answer is the error."""

    def __init__(self, rules: DeviceRules) -> None:
        self._rules = rules

    def compile_error(self, text: str) -> str:
        """Return why a selector does not compile; empty if it does."""
        compiled = _compiled(text, self._rules.release)
        return compiled if isinstance(compiled, str) else ""

    def attributes_read(self, text: str) -> frozenset[str] | None:
        """Return the attributes whose values a selector may read; ``None`` if it may be all."""
        compiled = _compiled(text, self._rules.release)
        return frozenset() if isinstance(compiled, str) else compiled.attributes

    def answer(self, text: str, content: SliceContent, index: int) -> bool | str:
        """Return whether a selector matches a device, or the error of the evaluation."""
        answers = content.answers(text)
        found = answers[index]
        if found is None:
            known = content.devices[index]
            found = answers[index] = self._ask(text, known, content.driver)
        return found

    def answer_unshared(self, text: str, content: SliceContent, index: int) -> bool | str:
        """Return the answer for a selector that does not see that the device can be shared."""
        device = content.devices[index].device
        if not device.allow_multiple_allocations:
            return self.answer(text, content, index)
        alone = msgspec.structs.replace(device, allow_multiple_allocations=False)
        return self._ask(text, KnownDevice(alone, self._rules), content.driver)

    def _ask(self, text: str, known: KnownDevice, driver: str) -> bool | str:
        from podium.cel import with_hint  # slow to load, and few clusters have devices

        compiled = _compiled(text, self._rules.release)
        if isinstance(compiled, str):
            return compiled
        try:
            return compiled.matches(known.view(driver, self._rules))
        except EvaluationError as error:
            return with_hint(str(error), self._rules.release)


@lru_cache(maxsize=1024)
def _compiled(text: str, release: Release) -> Selector | str:
    """Return a compiled selector, or why it does not compile."""
    from podium.cel import compile_selector

    try:
        return compile_selector(text, release)
    except InvalidExpression as error:
        return str(error)
