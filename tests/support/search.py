"""How many examples a property test tries: all of them, or a share that the profile sets.

``tests/conftest.py`` registers the hypothesis profiles ``thorough``, ``default`` and ``fast``.
"""

from typing import Any

from hypothesis import settings

THOROUGH = 100  # max_examples of that profile: a test without a number of its own tries so many
FEWEST = 5


def examples(count: int, **more: Any) -> settings:
    """Settings for a property that tries ``count`` examples in the profile ``thorough``."""
    return settings(max_examples=scaled(count), **more)


def scaled(count: int) -> int:
    """Return the share of ``count`` that the current profile asks for."""
    share = settings.default.max_examples / THOROUGH
    return max(min(FEWEST, count), round(count * share))


def is_fast() -> bool:
    """Whether the current profile is the one that leaves most of a search out."""
    return settings.get_current_profile_name() == "fast"
