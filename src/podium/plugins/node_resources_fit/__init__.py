"""NodeResourcesFit: a node needs room for what the pod requests.

Filter   rejects a node that has too many pods or too little left of a requested resource.
Score    prefers empty nodes (LeastAllocated), full ones (MostAllocated), or as a shape says.
Requeue  when pods leave or shrink, a node that would be large enough joins or grows, or a
         device class begins to offer a requested resource.
"""

from podium.plugins.node_resources_fit.plugin import NodeResourcesFit

__all__ = ["NodeResourcesFit"]
