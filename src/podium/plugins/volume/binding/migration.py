"""Migration of in-tree volumes to CSI drivers, which use their own zone labels.

The CSINode object of a node lists the in-tree plugins that its CSI drivers have taken over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.csi_migration import DRIVERS, migrated_driver, persistent_id
from podium.api.nodes import BETA_REGION, BETA_ZONE, REGION, ZONE
from podium.api.objects import (
    CSINode,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolume,
)
from podium.errors import InvalidObject, Problem
from podium.plugins.volume.binding.reach import EVERYWHERE, Reach, of_terms, of_volume

MIGRATED: Final = "storage.alpha.kubernetes.io/migrated-plugins"

_GA: Final = (ZONE, REGION)
_BETA: Final = (BETA_ZONE, BETA_REGION)
# The drivers that may take over, with their zone label; if it is empty nothing is translated.
_ZONE_LABELS: Final[Mapping[str, str]] = {
    "ebs.csi.aws.com": "topology.ebs.csi.aws.com/zone",
    "pd.csi.storage.gke.io": "topology.gke.io/zone",
    "cinder.csi.openstack.org": "topology.cinder.csi.openstack.org/zone",
    "disk.csi.azure.com": "",
    "pxd.portworx.com": "",
}
_PLUGINS: Final[Mapping[str, str]] = {driver: plugin for plugin, driver in DRIVERS.items()}


def in_tree_plugin(volume: PersistentVolume) -> str:
    """Return the in-tree plugin that a CSI driver may have replaced; empty if there is none."""
    driver = migrated_driver(volume.spec) if volume.spec.csi is None else None
    return _PLUGINS[driver] if driver is not None and driver in _ZONE_LABELS else ""


def is_migrated(plugin: str, csi_node: CSINode | None) -> bool:
    """Return whether a CSI driver has replaced this in-tree plugin on the node."""
    if csi_node is None:
        return False
    return plugin in csi_node.annotations.get(MIGRATED, "").split(",")


class MigratedNodes:
    """Masks of the rows where CSI drivers have taken over, by in-tree plugin.

    ``_masks`` are valid for the versions of CSINodes and nodes in ``_made_for``.
    """

    def __init__(self, cluster: fwk.ClusterView) -> None:
        self._cluster = cluster
        self._made_for: tuple[int, int] = (-1, -1)
        self._masks: dict[str, NDArray[np.bool_]] = {}

    def mask(self, plugin: str) -> NDArray[np.bool_]:
        """Return a mask of the rows on which the plugin is migrated."""
        csi_nodes, cluster = self._cluster.objects(CSINode), self._cluster
        state = csi_nodes.version, cluster.structure
        if state != self._made_for:
            self._made_for, self._masks = state, {}
        if plugin not in self._masks:
            mask = self._masks[plugin] = np.zeros(cluster.size, np.bool_)
            rows = [cluster.row_of(each.name) for each in csi_nodes if is_migrated(plugin, each)]
            mask[[row for row in rows if row is not None]] = True
        return self._masks[plugin]


def migrated_reach(volume: PersistentVolume) -> Reach:
    """Return the reach of an in-tree volume on nodes where its CSI driver serves it."""
    _require_translation(volume)
    label = _ZONE_LABELS[DRIVERS[in_tree_plugin(volume)]]
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    if not label:
        return of_volume(volume)
    translated = _translated(volume, required or NodeSelector(), label)
    is_unrestricted = required is None and not translated.node_selector_terms
    return EVERYWHERE if is_unrestricted else of_terms(translated)


def _translated(volume: PersistentVolume, required: NodeSelector, label: str) -> NodeSelector:
    zone, region = _keys(volume, required)
    renamed = {region: _GA[1]}
    if any(each.key == zone and each.values for each in _expressions(required)):
        renamed[zone] = label
    elif zones := _zones(volume.labels.get(zone, "")):
        required = _with(required, NodeSelectorRequirement(label, "In", zones))
    return _mapped(required, renamed)


def _keys(volume: PersistentVolume, required: NodeSelector) -> tuple[str, str]:
    """Return the zone and region labels that the volume uses: the current or the beta ones."""
    named = {each.key for each in _expressions(required)}
    for labels in (named, volume.labels):
        for keys in (_GA, _BETA):
            if keys[0] in labels:
                return keys
    return _GA


def _expressions(required: NodeSelector) -> list[NodeSelectorRequirement]:
    return [each for term in required.node_selector_terms for each in term.match_expressions]


def _zones(text: str) -> tuple[str, ...]:
    return tuple(sorted({part.strip() for part in text.split("__")} - {""}))


def _with(required: NodeSelector, demand: NodeSelectorRequirement) -> NodeSelector:
    terms = required.node_selector_terms or (NodeSelectorTerm(),)
    return NodeSelector(
        tuple(
            msgspec.structs.replace(term, match_expressions=(*term.match_expressions, demand))
            for term in terms
        )
    )


def _mapped(required: NodeSelector, renamed: Mapping[str, str]) -> NodeSelector:
    return NodeSelector(
        tuple(
            msgspec.structs.replace(
                term,
                match_expressions=tuple(
                    msgspec.structs.replace(each, key=renamed.get(each.key, each.key))
                    for each in term.match_expressions
                ),
            )
            for term in required.node_selector_terms
        )
    )


def _require_translation(volume: PersistentVolume) -> None:
    """Raise ``InvalidObject`` for a volume that has no CSI form."""
    spec = volume.spec
    disk = spec.azure_disk
    if disk is not None and disk.kind and disk.kind.lower() != "managed":
        problem = Problem("spec.azureDisk.kind", f"kind({disk.kind}) is not supported by CSI")
    elif (spec.aws_elastic_block_store or spec.gce_persistent_disk) and not persistent_id(volume):
        problem = Problem("spec", "the volume's ID or zones have no CSI form")
    else:
        return
    raise InvalidObject("PersistentVolume", volume.name, [problem])
