"""The fakes that plugin authors have; here under the name that our tests know."""

from podium.testing.handle import FakeClient, FakeEvents, FakeHandle

__all__ = ["FakeClient", "FakeEvents", "FakeHandle"]
