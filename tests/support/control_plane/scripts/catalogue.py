"""All scripts, in the order in which they run."""

from tests.support.control_plane.scripts import (
    applying,
    changing,
    claims,
    customizing,
    defaulting,
    devices,
    expressions,
    misplacing,
    reading,
    refusing,
    ruled_objects,
    sweeping,
    writing,
)

MODULES = (
    reading,
    writing,
    applying,
    defaulting,
    refusing,
    misplacing,
    customizing,
    claims,
    devices,
    expressions,
    ruled_objects,
    changing,
    sweeping,
)
SCRIPTS = [script for module in MODULES for script in module.ALL]
