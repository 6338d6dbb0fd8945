"""A scheduler of toy plugins that can be asked what it knows."""

from podium import config
from podium.live.introspection import Introspection
from tests.support.live import PROFILE


class Known:
    """The pods that a desk's informer would know."""

    def __init__(self, desk):
        self._desk = desk

    def pod(self, key):
        return self._desk.known.get(key)

    def pods(self):
        return self._desk.known.values()

    def custom(self, name):
        return None


def introspection(desk):
    return Introspection(
        services=desk.services,
        queue=desk.queue,
        known=Known(desk),
        profiles={PROFILE: desk.profile},
        server="http://127.0.0.1:6443",
        release="1.37",
        configured=config.default,
    )
