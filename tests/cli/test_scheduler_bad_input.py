"""`podium scheduler` where something is wrong: it says what, and goes on once that is mended."""

import json
import socket

import pytest

from podium.apiserver.server import Access
from podium.app import process
from podium.cli import main
from podium.live.lease_lock import LeaseLock
from tests.support.control_plane import sides
from tests.support.control_plane.plane import write_kubeconfig
from tests.support.control_plane.processes import LEASE, free_port, podium
from tests.support.control_plane.stage import Stage

LEASES = LEASE.rpartition("/")[0]
HELD = {
    "metadata": {"name": "kube-scheduler"},
    "spec": {
        "holderIdentity": "elsewhere_1",
        "leaseDurationSeconds": 3600,
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 3,
    },
}


@pytest.fixture
def started(tmp_path):
    """Start a scheduler that need not come to lead; it ends with the test."""
    running = []

    def start(kubeconfig):
        running.append(podium(tmp_path, kubeconfig))
        return running[-1]

    yield start
    for scheduler in running:
        scheduler.stop()


@pytest.mark.slow
def test_a_server_that_cannot_be_reached_is_one_warning(started, tmp_path):
    port = free_port()
    cluster = {"server": f"http://127.0.0.1:{port}"}
    scheduler = started(write_kubeconfig(tmp_path / "kubeconfig", cluster, {}))
    scheduler.until_said("cannot be reached")

    with sides.embedded(tmp_path, port=port):
        scheduler.until_said("Successfully acquired lease")
        (warning,) = scheduler.complaints
        scheduler.stop()

    assert f"{tmp_path / 'kubeconfig'}, context it: http://127.0.0.1:{port}: " in warning
    assert "is it running, and is the address right?" in warning


@pytest.mark.slow
def test_credentials_that_have_expired_are_one_error(started, tmp_path):
    token = tmp_path / "token"
    token.write_text("expired")
    with sides.embedded(tmp_path, access=Access(tokens=("fresh",))) as side:
        cluster, user = {"server": side.url}, {"tokenFile": str(token)}
        scheduler = started(write_kubeconfig(tmp_path / "kubeconfig", cluster, user))
        scheduler.until_said("does not accept these credentials")
        token.write_text("fresh")
        scheduler.until_said("Successfully acquired lease")
        (error,) = scheduler.complaints
        scheduler.stop()

    assert f"{tmp_path / 'kubeconfig'}, context it: {side.url} does not accept" in error
    assert "they are wrong or have expired; renew them" in error
    assert "Traceback" not in scheduler.said


@pytest.mark.slow
def test_a_lease_that_another_one_holds(started, tmp_path):
    with sides.embedded(tmp_path) as side:
        stage = Stage(side, "standby")
        stage.create(LEASES, HELD)
        scheduler = started(side.kubeconfig)
        scheduler.until_said("Standing by: another process leads")
        assert "lock='kube-system/kube-scheduler' holder='elsewhere_1'" in scheduler.said
        assert "Successfully acquired lease" not in scheduler.said

        stage.patch(LEASE, {"spec": {"holderIdentity": ""}})
        scheduler.until_said("Successfully acquired lease")
        assert stage.get(LEASE)["spec"]["leaseTransitions"] == 4
        scheduler.stop()

    assert scheduler.complaints == []


@pytest.mark.slow
def test_a_standby_that_is_stopped_schedules_nothing(started, tmp_path):
    with sides.embedded(tmp_path) as side:
        stage = Stage(side, "standby")
        stage.create(LEASES, HELD)
        stage.ready_nodes("a")
        stage.pod("waiting")
        scheduler = started(side.kubeconfig)
        scheduler.until_said("Standing by: another process leads")
        scheduler.stop()

        assert "nodeName" not in stage.get(stage.core("pods/waiting"))["spec"]


@pytest.mark.slow
def test_a_leader_whose_lease_is_taken_ends(started, tmp_path):
    with sides.embedded(tmp_path) as side:
        scheduler = started(side.kubeconfig)
        scheduler.until_said("Successfully acquired lease")
        Stage(side, "taken").patch(LEASE, {"spec": HELD["spec"]})
        assert scheduler.ended() == 1

    assert "Leaderelection lost" in scheduler.said


def config(**changes):
    whole = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "it", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "it",
    }
    return {**whole, **changes}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        pytest.param(
            config(**{"current-context": ""}),
            "there is no current context; choose among: it",
            id="no-context-is-current",
        ),
        pytest.param(
            config(**{"current-context": "other"}),
            'context "other" does not exist; choose among: it',
            id="context-of-another-file",
        ),
        pytest.param(
            config(clusters=[]),
            'cluster "c" does not exist; the files have no cluster',
            id="no-cluster",
        ),
        pytest.param(
            config(users=[]), 'user "u" does not exist; the files have no user', id="no-user"
        ),
        pytest.param({}, "there is no current context; the files have no context", id="empty"),
    ],
)
def test_a_kubeconfig_that_leads_nowhere(written, told, tmp_path, capsys):
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(written))

    assert main(["scheduler", f"--kubeconfig={path}", "--secure-port=0"]) == 2
    assert told in capsys.readouterr().err


def test_a_port_that_is_taken(tmp_path, capsys):
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config()))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        port = address.rpartition(":")[2]
        flags = ["--bind-address=127.0.0.1", f"--secure-port={port}"]
        assert main(["scheduler", f"--kubeconfig={path}", *flags]) == 2

    told = capsys.readouterr().err
    why = "is taken, most likely by another scheduler"
    assert f"podium: {address} {why}: end that one, " in told


def test_a_plugin_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "rack.py").write_text(
        "from podium import framework as fwk\n"
        "class Rack(fwk.FilterPlugin):\n"
        "    name = 'Rack'\n"
        "    def __init__(self, args, handle):\n"
        "        raise ValueError('no racks')\n"
        "    def filter(self, state, pod, node):\n"
        "        return fwk.SUCCESS\n"
    )
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config()))
    flags = [f"--kubeconfig={path}", f"--plugin={tmp_path / 'rack.py'}", "--secure-port=0"]

    assert main(["scheduler", *flags]) == 2
    assert 'podium: initializing plugin "Rack": no racks\n' in capsys.readouterr().err


def test_neither_a_kubeconfig_nor_a_pod(monkeypatch, capsys):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    assert main(["scheduler", "--secure-port=0"]) == 2
    assert "give a kubeconfig with --kubeconfig, or run in a pod" in capsys.readouterr().err


def test_a_fault_of_the_election_ends_the_process(tmp_path, monkeypatch):
    """Nobody would take the lease any more, and the process would wait for it for ever."""

    class Faulty(LeaseLock):
        async def get(self):
            raise KeyError("a bug")

    monkeypatch.setattr(process, "LeaseLock", Faulty)
    with sides.embedded(tmp_path) as side, pytest.raises(KeyError, match="a bug"):
        main(["scheduler", f"--kubeconfig={side.kubeconfig}", "--secure-port=0"])
