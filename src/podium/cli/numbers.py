"""Numbers as commands print them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 pod`` or ``1,234 pods``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """Return ``12.5 %`` for 0.125."""
    return f"{100 * share:.1f} %"
