"""KubeSchedulerConfiguration: read, completed, merged and checked before anything runs."""

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
