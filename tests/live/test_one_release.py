"""A running scheduler behaves as one release, wherever a difference is decided."""

import pytest

from podium import app, config
from podium.app.feature_gates import LiveOptions
from podium.app.live import build_live, embedded_connection
from podium.clock import FakeClock
from podium.config.feature_gates import FeatureGates
from podium.release import V1_36, V1_37


def test_plugins_and_options_of_two_releases_are_refused():
    registry = app.in_tree(FeatureGates(V1_36))
    connection = embedded_connection("http://127.0.0.1:1", FakeClock())
    options = LiveOptions(FeatureGates(V1_37))

    with pytest.raises(ValueError, match=r"one release: plugins of 1\.36 with options of 1\.37"):
        build_live(config.default(registry), connection, registry=registry, options=options)
