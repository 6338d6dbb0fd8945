"""Whoever keeps the scheduler waiting, an extender or a plugin, does not cost it its lease."""

import json
import os
import sys
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta

import pytest

from tests.support.control_plane import processes, sides
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.slow

LEASES, _, NAME = processes.LEASE.rpartition("/")
# A leader that does not get to renew gives up after that.
TOO_LONG = timedelta(seconds=processes.RENEW_SECONDS)
BLOCKING = """
import podium

@podium.filter
def blocking(node):
    open({fifo!r}).read()
"""


@contextmanager
def hanging_extender(folder, server, settings):
    told = server.told(filter="hang")
    settings["extenders"] = [{"urlPrefix": told.url, "filterVerb": "filter", "httpTimeout": "60s"}]
    yield [], lambda: told.calls(1), lambda: None


@contextmanager
def blocking_plugin(folder, server, settings):
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    (folder / "blocking.py").write_text(BLOCKING.format(fifo=str(fifo)))
    opened = ExitStack()
    # Opening to write waits for who reads: the plugin has the scheduler then, until it is closed.
    yield (
        ["--plugin", str(folder / "blocking.py")],
        lambda: opened.enter_context(fifo.open("w")),
        opened.close,
    )


def renewed(lease):
    return datetime.fromisoformat(lease["spec"]["renewTime"])


@pytest.mark.parametrize("keeping_it_waiting", [hanging_extender, blocking_plugin])
def test_the_lease_is_renewed_while_the_scheduler_waits(tmp_path, server, keeping_it_waiting):
    with sides.embedded(tmp_path) as side:
        settings = processes.configuration(side.kubeconfig)
        with keeping_it_waiting(tmp_path, server, settings) as (flags, until_it_waits, let_go):
            (tmp_path / "config.json").write_text(json.dumps(settings))
            command = [sys.executable, "-m", "podium", "scheduler", "--secure-port=0"]
            config = f"--config={tmp_path / 'config.json'}"
            log = tmp_path / "log"
            with processes.Scheduler([*command, config, *flags], log) as scheduler:
                stage = Stage(side, "waiting")
                stage.ready_nodes("a")
                stage.pod("first")
                until_it_waits()
                since = renewed(stage.get(processes.LEASE))
                side.wait_for(
                    LEASES,
                    lambda lease: (
                        lease["metadata"]["name"] == NAME and renewed(lease) - since > TOO_LONG
                    ),
                )
                assert stage.outcome("first")["node"] is None  # it still waits
                assert "Failed to renew lease" not in scheduler.said
                let_go()
