"""Extended resources that device classes provide, such as ``example.com/gpu``.

A class provides the resource that its spec names, and one that is named after the class. The rules
for classes that name the same resource are those of kube-scheduler, with their oddities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from podium.api.devices import DeviceClass
from podium.api.objects import Pod
from podium.api.resources import is_extended, spec_requests
from podium.api.times import parse_time
from podium.errors import InvalidTime

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
# Marks a claim that the scheduler made for a pod that requests extended resources.
EXTENDED_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"


class ExtendedResources:
    """The class behind each extended resource, kept up to date with the device classes.

    ``classes`` is by resource, and stays the same object. ``_requested`` is the answer for
    ``_last_pod``; a change of classes drops it.
    """

    def __init__(self) -> None:
        self._classes: dict[str, DeviceClass] = {}
        self.classes: Mapping[str, DeviceClass] = self._classes
        self._last_pod: Pod | None = None
        self._requested: tuple[str, ...] = ()

    def requested_by(self, pod: Pod) -> tuple[str, ...]:
        """Return the resources that the pod requests and that a class provides."""
        if pod is not self._last_pod:  # each plugin of a profile asks for its pod
            requests = spec_requests(pod)[0].items()
            names = [name for name, amount in requests if amount and name in self.classes]
            self._last_pod, self._requested = pod, tuple(filter(may_be_provided, names))
        return self._requested

    def class_changed(self, old: DeviceClass | None, new: DeviceClass | None) -> None:
        self._last_pod = None
        if new is None:
            self._remove(old)
        elif not self._is_beaten(new):
            self._remove(old)
            if new.spec.extended_resource_name:
                self._classes[new.spec.extended_resource_name] = new
            self._classes[IMPLICIT_PREFIX + new.name] = new

    def _is_beaten(self, new: DeviceClass) -> bool:
        """Return whether another class provides the resource already, and keeps it.

        The newest class wins, then the first by name. The class itself counts as another one, as in
        kube-scheduler: an update of a class that keeps its resource name is ignored.
        """
        owner = self.classes.get(new.spec.extended_resource_name)
        if owner is None:
            return False
        return _order(new) >= _order(owner)

    def _remove(self, gone: DeviceClass | None) -> None:
        """Remove what the class provided, even if another class provides it by now."""
        if gone is not None:
            self._classes.pop(IMPLICIT_PREFIX + gone.name, None)
            self._classes.pop(gone.spec.extended_resource_name, None)


class NoExtendedResources(ExtendedResources):
    """The stand-in without the feature DRAExtendedResource: no class provides a resource."""

    def class_changed(self, old: DeviceClass | None, new: DeviceClass | None) -> None:
        """Ignore all classes."""


def may_be_provided(resource: str) -> bool:
    """Return whether a resource of this name can be provided by a class."""
    return is_extended(resource) or resource.startswith(IMPLICIT_PREFIX)


def _order(one: DeviceClass) -> tuple[int, str]:
    """Return a key that is smallest for the class that wins: the newest, then the first by name."""
    created = one.metadata.creation_timestamp
    try:
        return -parse_time(created) if created else 0, one.name
    except InvalidTime:  # no API server writes one; the class must not harm others
        return 0, one.name
