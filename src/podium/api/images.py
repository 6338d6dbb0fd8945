"""Names of container images."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def full_name(image: str) -> str:
    """Return the name under which a node lists the image. Only a missing tag is added."""
    has_tag = image.rfind(":") > image.rfind("/")
    return image if has_tag else f"{image}:latest"
