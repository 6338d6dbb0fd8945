"""VolumeBinding: run a pod where its claims have volumes, can get them, or can have them made.

PreFilter  rejects a pod with a claim that is missing, lost, going away, or not yet bound although
           it does not wait for a node.
Filter     rejects a node that a claim's volume cannot be used on, or that has neither a volume nor
           the means to make one for a claim that waits.
Score      prefers nodes by how full their storage would be; only with StorageCapacityScoring.
Reserve    assumes the choice, so that the next pod sees it taken; Unreserve gives it back.
PreBind    writes the choice and waits until the claims are bound.
Requeue    when volumes, claims, classes, storage pools or nodes come or change.
"""

from podium.plugins.volume.binding.plugin import ScoringVolumeBinding, VolumeBinding

__all__ = ["ScoringVolumeBinding", "VolumeBinding"]
