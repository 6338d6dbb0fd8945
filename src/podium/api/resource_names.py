"""Names of resources, and which of them the scheduler counts."""

from functools import lru_cache

from podium.api.names import label_key_problems

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Whether this is an extended resource: its prefix is not one of Kubernetes."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_problems(f"requests.{name}")


@lru_cache(maxsize=4096)
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts this resource as a scalar, without special rules for it."""
    return (
        is_extended(name)
        or name.startswith(("hugepages-", "attachable-volumes-"))
        or "kubernetes.io/" in name
    )


def is_counted(name: str) -> bool:
    return name in NATIVE or is_scalar(name)


def is_pod_level(name: str) -> bool:
    """Whether a pod can request this resource for all its containers together."""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")
