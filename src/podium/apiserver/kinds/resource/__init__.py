"""The group resource.k8s.io: device classes, resource claims, and what drivers offer."""

from podium.apiserver.kinds.resource.kinds import KINDS

__all__ = ["KINDS"]
