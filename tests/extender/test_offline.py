"""Shells without a running scheduler: extenders in process, and none over HTTP."""

import asyncio

import pytest

from podium import app, config
from podium import framework as fwk
from podium.cycle.extended import run_extended
from podium.errors import ConfigError
from podium.testing.builders import node, pod
from tests.support.toy_extenders import ToyExtender

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 3
extenders:
- {urlPrefix: "http://127.0.0.1:1", filterVerb: filter}
"""


def test_extenders_over_http_are_refused():
    with pytest.raises(ConfigError, match="extenders: only a running scheduler calls extenders"):
        app.build(config.load(CONFIGURATION, app.in_tree()))


def test_extenders_in_process_are_asked():
    core = app.build(config.default(app.in_tree()), extenders=[ToyExtender(filter=["b"])])
    for name in "abc":
        core.cluster.set_node(node(name))

    outcome = asyncio.run(run_extended(core.cycle(fwk.QueuedPod.of(pod("web")))))

    assert outcome.record.node == "b"
