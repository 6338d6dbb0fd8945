"""What plugins have cost and said so far, as `podium plugin stats` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podium.framework.calls import CallCount
from podium.framework.profile import Profile

Json = dict[str, Any]


def stats(profiles: Mapping[str, Profile]) -> Json:
    """By profile; from any thread. ``withoutSignature`` are those who switch reuse off."""
    return {
        "profiles": [
            {
                "name": name,
                "withoutSignature": list(profile.unsigned),
                "calls": [_shown(count) for count in profile.calls if count.calls],
            }
            for name, profile in list(profiles.items())
        ]
    }


def _shown(count: CallCount) -> Json:
    return {
        "plugin": count.plugin,
        "point": count.point,
        "calls": count.calls,
        "evaluations": count.evaluations,
        "seconds": count.seconds,
        "longest": count.longest,
        "rejections": count.rejections,
        "errors": count.errors,
    }
