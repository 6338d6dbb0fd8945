"""Our plugins that judge nodes, each with arguments that it can be built with."""

from podium import framework as fwk
from podium.legacy.plugins import LEGACY
from podium.plugins import IN_TREE
from podium.plugins.node_resources_fit.args import ShapePoint

_POINTS = fwk.PreFilterPlugin | fwk.FilterPlugin | fwk.PreScorePlugin | fwk.ScorePlugin
_SHAPE = (ShapePoint(utilization=0, score=0), ShapePoint(utilization=100, score=10))


def _args(plugin):
    needs_a_shape = plugin.name == "RequestedToCapacityRatio"
    return plugin.Args(shape=_SHAPE) if needs_a_shape else plugin.Args()


JUDGES = [(plugin, _args(plugin)) for plugin in (*IN_TREE, *LEGACY) if issubclass(plugin, _POINTS)]
