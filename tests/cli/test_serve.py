"""`podium serve` as a process: signals, tokens, and the end of following."""

import argparse
import asyncio
import os
import re
import signal
import socket
import threading

import pytest
import yaml

from podium import snapshot
from podium.cli.serve import answer
from podium.serve.cluster import FixedCluster
from podium.serve.token import Token
from podium.simulation import Simulation
from tests.support import dumps
from tests.support.commands import Shell


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture
def silent_server(shell):
    """An API server that takes connections and never answers; named by the kubeconfig."""
    listening = socket.create_server(("127.0.0.1", 0))
    asked = threading.Event()

    def accept():
        try:
            while True:
                held.append(listening.accept()[0])
                asked.set()
        except OSError:
            pass

    held: list[socket.socket] = []
    threading.Thread(target=accept, daemon=True).start()
    server = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
        "current-context": "c",
    }
    shell.kubeconfig.write_text(yaml.safe_dump(config))
    yield asked
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for each in held:
        each.close()


@pytest.mark.slow
def test_a_signal_while_the_cluster_is_being_read(shell, silent_server):
    process = shell.start("serve", "--port", "0")
    try:
        assert silent_server.wait(60)
        process.terminate()
        out, errors = process.communicate(timeout=30)
    finally:
        process.end()
    assert (process.returncode, out, errors) == (0, "", "")


@pytest.mark.slow
def test_two_servers_beside_one_another(shell, tmp_path):
    dump = str(dumps.written(tmp_path / "dump.json"))
    processes = [shell.start("serve", "--from", dump, "--port", "0")]
    try:
        first = _token(processes[0])
        processes.append(shell.start("serve", "--from", dump, "--port", "0"))
        said = processes[1].line()
        second = _token(processes[1])
        assert said == f"another podium serve is running, with its token in {first}\n"
        assert (os.path.basename(first), os.path.basename(second)) == (
            "serve.token", "serve-2.token"
        )  # fmt: skip
        assert os.path.exists(first)
        processes[1].terminate()
        processes[1].communicate(timeout=30)
        assert not os.path.exists(second)
        assert os.path.exists(first)
    finally:
        for process in processes:
            process.terminate()
            try:
                process.communicate(timeout=30)
            finally:
                process.end()
    assert not os.path.exists(first)


def _token(process):
    assert process.line().startswith("answering at ")
    return re.search(r"in (\S+),", process.line())[1]


def test_the_program_ends_when_the_cluster_cannot_be_followed(tmp_path, capsys, caplog):
    taken = snapshot.load(dumps.written(tmp_path / "dump.json"))
    cluster = FixedCluster(taken, Simulation.from_snapshot(taken))

    async def scene():
        following: asyncio.Future[None] = asyncio.Future()
        following.set_exception(ExceptionGroup("watches", [RuntimeError("a fault")]))
        args = argparse.Namespace(host="127.0.0.1", port=0)
        return await answer(cluster, following, args, Token("a-token-for-tests", tmp_path))

    assert asyncio.run(asyncio.wait_for(scene(), 20)) == 1
    assert "cannot be followed any more" in capsys.readouterr().err
    assert "following the cluster failed" in caplog.text


@pytest.mark.slow
def test_a_plugin_that_hangs_does_not_keep_it_from_ending(shell, tmp_path):
    plugin = tmp_path / "hangs.py"
    plugin.write_text(
        "import threading\n"
        "from podium import framework as fwk\n"
        "class Hangs(fwk.FilterPlugin):\n"
        '    name = "Hangs"\n'
        "    def filter(self, state, pod, node):\n"
        '        print("hangs", flush=True)\n'
        "        threading.Event().wait(600)\n"
    )
    dump = str(dumps.written(tmp_path / "dump.json"))
    process = shell.start("serve", "--from", dump, "--port", "0", "--plugin", str(plugin))
    try:
        url = re.search(r"http://(\S+):(\d+);", process.line())
        path = re.search(r"in (\S+),", process.line())[1]
        with socket.create_connection((url[1], int(url[2]))) as asking, open(path) as file:
            token = f"Authorization: Bearer {file.read().strip()}"
            asking.sendall(f"GET /v1/pods/default/huge HTTP/1.0\r\n{token}\r\n\r\n".encode())
            process.until("hangs")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
    finally:
        process.end()
    assert process.returncode == 0
    assert not os.path.exists(path)
