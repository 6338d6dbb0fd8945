"""For all tests: a property fails for what it finds, never for how long that took."""

from hypothesis import HealthCheck, settings

# On a busy machine one example may well take a second.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")
