"""ImageLocality: prefer nodes that already hold the images of the pod.

Score  adds up the sizes of the pod's images that the node holds. Each size is multiplied by the
       fraction of all nodes that hold the image, so that a rare image does not attract every pod to
       one node. A sum of 23 MiB scores 0, one of 1000 MiB per image scores 100.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from podium import framework as fwk
from podium.api.images import full_name
from podium.api.objects import Pod
from podium.framework.resource_scoring import Amount
from podium.framework.scores import zeros

LEAST: Final = 23 << 20
MOST_PER_IMAGE: Final = 1000 << 20
DEPENDENCIES = fwk.Dependencies(cluster=fwk.Aspect.IMAGES)


class ImageLocality(fwk.ScorePlugin):
    name = "ImageLocality"

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self.cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        return tuple(images_of(pod))

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def score(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> int:
        total = sum(worth for image, worth in self.held(pod) if image.is_on(node.row))
        return points(total, self.image_count(pod))

    def score_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        held = list(self.held(pod))
        if not held:
            return zeros(len(nodes))
        total = np.zeros(len(nodes), np.int64)
        for image, worth in held:
            total += nodes.holding(image) * worth
        return points(total, self.image_count(pod))

    def image_count(self, pod: Pod) -> int:
        """Return how many images the pod has: 100 points take ``MOST_PER_IMAGE`` for each."""
        spec = pod.spec
        count = len(spec.init_containers) + len(spec.containers)
        if spec.volumes:
            count += sum([volume.image is not None for volume in spec.volumes])
        return count

    def held(self, pod: Pod) -> list[tuple[fwk.HeldImage, int]]:
        """Return the pod's images that any node holds, with what each adds to the sum.

        An image that the pod names twice is there twice.
        """
        nodes = self.cluster.node_count
        found = [self.cluster.image(full_name(name)) for name in images_of(pod)]
        return [(image, worth_of(image, nodes)) for image in found if image is not None]


class ContainerImageLocality(ImageLocality):
    """ImageLocality as of 1.36: image volumes add to the sum, but not to the number of images."""

    def sign(self, pod: Pod) -> Hashable:
        return (tuple(images_of(pod)), self.image_count(pod))

    def image_count(self, pod: Pod) -> int:
        return len(pod.spec.init_containers) + len(pod.spec.containers)


def images_of(pod: Pod) -> list[str]:
    """Return the image names of init containers, containers and image volumes, as written."""
    spec = pod.spec
    names = [container.image for container in (*spec.init_containers, *spec.containers)]
    if spec.volumes:
        names += [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return names


def worth_of(image: fwk.HeldImage, nodes: int) -> int:
    return int(float(image.size_bytes) * (float(image.spread) / float(nodes)))


def points(total: Amount, images: int) -> Amount:
    """Return the score for this many bytes, for one node or for an array of nodes."""
    most = MOST_PER_IMAGE * images
    if isinstance(total, int):
        within = LEAST if total < LEAST else min(total, most)
        return 100 * (within - LEAST) // (most - LEAST)
    inside = np.where(total < LEAST, LEAST, np.minimum(total, most))
    return 100 * (inside - LEAST) // (most - LEAST)
