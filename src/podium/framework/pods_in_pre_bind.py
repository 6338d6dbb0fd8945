"""Pods whose PreBind is running: until it is done, their binding can still be called off."""

from __future__ import annotations

from collections.abc import Callable


class PodInPreBind:
    """``cancel`` and ``mark_prebound`` race; the first wins."""

    def __init__(self, stop: Callable[[str], object]) -> None:
        self._stop = stop
        self._is_prebound = False
        self.cancelled_because: str | None = None

    def cancel(self, reason: str) -> bool:
        """Call the binding off; false when PreBind is done already."""
        if self._is_prebound:
            return False
        if self.cancelled_because is None:
            self.cancelled_because = reason
            self._stop(reason)
        return True

    def mark_prebound(self) -> bool:
        """PreBind is done; false when it was called off before."""
        if self.cancelled_because is not None:
            return False
        self._is_prebound = True
        return True


class PodsInPreBind:
    """By uid, from before PreBind to the end of the binding."""

    def __init__(self) -> None:
        self._pods: dict[str, PodInPreBind] = {}

    def add(self, uid: str, stop: Callable[[str], object]) -> PodInPreBind:
        entry = self._pods[uid] = PodInPreBind(stop)
        return entry

    def get(self, uid: str) -> PodInPreBind | None:
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)
