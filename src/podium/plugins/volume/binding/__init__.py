"""VolumeBinding: run a pod where its claims have volumes, or where volumes can be provisioned.

PreFilter  rejects a pod with a claim that is missing, lost or being deleted, or that is unbound
although its class binds immediately. Filter     rejects a node on which a bound volume cannot be
used, or on which an unbound claim can get neither an existing volume nor a new one. Score
prefers nodes by how full their storage would be; only with StorageCapacityScoring. Reserve
assumes the chosen volumes, so that the next pod sees them taken; Unreserve undoes that. PreBind
writes the choice and waits until the claims are bound. Requeue    when volumes, claims, classes,
storage pools or nodes are added or change.
"""

from podium.plugins.volume.binding.plugin import ScoringVolumeBinding, VolumeBinding

__all__ = ["ScoringVolumeBinding", "VolumeBinding"]
