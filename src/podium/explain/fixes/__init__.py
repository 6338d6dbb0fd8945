"""What would help a pending pod: each fix was tried, and is the smallest of its kind."""

from podium.explain.fixes.groups import find_group_fixes
from podium.explain.fixes.search import find_fixes

__all__ = ["find_fixes", "find_group_fixes"]
