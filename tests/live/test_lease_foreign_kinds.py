"""What is not a lease, at the path of the lease: a message, some patience, and no leader."""

import json

import pytest

from podium.client.api_client import ApiClient
from podium.config import LeaderElection as Settings
from podium.live.election import Elector
from podium.live.leader_election import Callbacks, LeaderElection
from podium.live.lease_lock import LeaseLock
from podium.metrics import Metrics
from tests.support.client import with_world
from tests.support.faulty_proxy import saying

NAMESPACE, NAME = "kube-system", "kube-scheduler"
MINUTES = 10


def lease(kind="Lease", api_version="coordination.k8s.io/v1", **spec):
    meta = {"namespace": NAMESPACE, "name": NAME, "uid": "u", "resourceVersion": "5"}
    return json.dumps({"kind": kind, "apiVersion": api_version, "metadata": meta, "spec": spec})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(lease("ConfigMap", "v1"), "ConfigMap of v1 instead of Lease of", id="kind"),
        pytest.param(
            lease(api_version="coordination.k8s.io/v1beta1"),
            "Lease of coordination.k8s.io/v1beta1 instead of",
            id="version",
        ),
        pytest.param('{"kind": "Status", "apiVersion": "v1"}', "Status of v1 ins", id="status"),
        pytest.param("{}", "the server answered with another object", id="empty"),
        pytest.param("[]", "the server answered with another object", id="list"),
        pytest.param("<html>", "the server answered with another object", id="html"),
        pytest.param(lease(holderIdentity=5), "holderIdentity", id="holder-is-a-number"),
        pytest.param(lease(holderIdentity=["me"]), "holderIdentity", id="holder-is-a-list"),
        pytest.param(
            lease(holderIdentity="it", leaseDurationSeconds=-15),
            "leaseDurationSeconds must not be negative, but is -15",
            id="negative-duration",
        ),
        pytest.param(
            lease(holderIdentity="it", leaseDurationSeconds="15s"),
            "leaseDurationSeconds",
            id="duration-is-a-text",
        ),
        pytest.param(lease(holderIdentity="it", renewTime="yesterday"), "yesterday", id="no-time"),
    ],
)
@with_world
async def test_nobody_leads_by_it(world, answer, message, caplog):
    settings = Settings()
    world.proxy.instead(f"/leases/{NAME}", *[saying(answer)] * 1000)
    told = []
    elector = Elector("me", settings, world.clock, Metrics())
    election = LeaderElection(
        elector,
        LeaseLock(ApiClient(world.connection), NAMESPACE, NAME),
        Callbacks(on_leading=lambda: told.append("lead"), on_lost=lambda: told.append("lost")),
        world.clock,
        "default-scheduler",
    )
    candidacy = world.start(election.run())
    end = world.clock.now() + 60 * MINUTES

    await world.in_time(lambda: world.clock.now() >= end)

    assert told == []
    assert {request.method for request in world.proxy.requests} == {"GET"}
    least_pause = settings.retry_period
    assert 1 < len(world.proxy.requests) <= 60 * MINUTES / least_pause + 1
    said = [each.getMessage() for each in caplog.records if each.levelname in ("WARNING", "ERROR")]
    assert len(said) == 1
    assert message in caplog.text
    election.stop()
    assert not await candidacy
