"""KubeSchedulerConfiguration v1: load it, fill in defaults, merge plugin sets and validate."""

from podium.config.load import default, from_value, load, load_file
from podium.config.model import (
    ClientConnection,
    Configuration,
    Extender,
    LeaderElection,
    ManagedResource,
    Profile,
    TLSConfig,
)

__all__ = [
    "ClientConnection",
    "Configuration",
    "Extender",
    "LeaderElection",
    "ManagedResource",
    "Profile",
    "TLSConfig",
    "default",
    "from_value",
    "load",
    "load_file",
]
