"""Commands around a cluster with files, addresses and states that are not as they should be.

Each ends with a code of failure and a sentence, and what was there before is there afterwards.
"""

import base64
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import pytest
import yaml

from tests.api.test_manifests import LAUGHS
from tests.support.commands import Shell

BINARY = b"\x7fELF\x00\xff\xfe\x80"


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


def kubeconfig(server, user=None, **cluster):
    return yaml.safe_dump(
        {
            "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
            "users": [{"name": "u", "user": user or {}}],
            "contexts": [{"name": "podium", "context": {"cluster": "c", "user": "u"}}],
        }
    )


def check_refused(done, told, code=1):
    assert done.returncode == code
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr


NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        pytest.param(BINARY, "config: cannot be read: not UTF-8 text", id="binary"),
        pytest.param("a: [", "not readable as YAML", id="no-yaml"),
        pytest.param("just text", "is not a kubeconfig", id="text"),
        pytest.param("contexts: 5", "is not a kubeconfig", id="number"),
        pytest.param(LAUGHS, 'no context "podium"', id="a-billion-laughs"),
        pytest.param("", "it has no contexts", id="empty"),
        pytest.param(kubeconfig("nonsense"), "'nonsense' is not the address", id="no-address"),
        pytest.param(
            kubeconfig("file:///etc/passwd"), "is not the address of a server", id="a-file"
        ),
        pytest.param(kubeconfig(5), "'5' is not the address", id="address-of-another-type"),
        pytest.param(kubeconfig("http://[::1"), "does not answer", id="half-an-address"),
        pytest.param(kubeconfig("http://a b"), "does not answer", id="a-blank"),
        pytest.param(kubeconfig("http://127.0.0.1:x"), "does not answer", id="no-port"),
        pytest.param(kubeconfig(NOBODY), "does not answer", id="nobody-there"),
        pytest.param(kubeconfig(NOBODY, {"token": 5}), "token is not a line", id="token-number"),
        pytest.param(
            kubeconfig(NOBODY, {"token": "a\nb"}), "token is not a line", id="token-lines"
        ),
        pytest.param(kubeconfig(NOBODY, {"exec": {}}), "exec is not supported", id="login"),
        pytest.param(
            kubeconfig("https://127.0.0.1:9", **{"certificate-authority": "/nowhere"}),
            "certificate authority cannot be used",
            id="no-authority",
        ),
        pytest.param(
            kubeconfig("https://127.0.0.1:9", **{"certificate-authority-data": "!"}),
            "certificate authority cannot be used",
            id="no-base64",
        ),
        pytest.param(
            kubeconfig(
                "https://127.0.0.1:9",
                **{"certificate-authority-data": base64.b64encode(b"x").decode()},
            ),
            "certificate authority cannot be used",
            id="no-certificate",
        ),
    ],
)
@pytest.mark.parametrize(
    "command",
    [["get", "nodes"], ["delete", "pod", "x"], ["apply", "-f", "-"]],
    ids=["get", "delete", "apply"],
)
def test_a_kubeconfig_that_leads_nowhere(shell, command, config, told):
    data = config if isinstance(config, bytes) else config.encode()
    shell.kubeconfig.write_bytes(data)
    stdin = "{apiVersion: v1, kind: Pod, metadata: {name: a}}"

    check_refused(shell.run(*command, stdin=stdin), told)
    assert shell.kubeconfig.read_bytes() == data


@pytest.mark.slow
def test_a_kubeconfig_nested_deeper_than_can_be_parsed(shell):
    shell.kubeconfig.write_text("[" * 2_000)

    check_refused(shell.run("get", "nodes"), "not readable as YAML")


@contextmanager
def answering(raw):
    """A server that says the same to everybody."""

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):  # also of a client that says or reads nothing
                connection.settimeout(10)
                connection.recv(65536)
                connection.sendall(raw)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(30)
            assert not thread.is_alive()


def http(body, status="200 OK", length=None):
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param(b"SSH-2.0-OpenSSH\r\n", "does not answer", id="another-protocol"),
        pytest.param(b"", "does not answer", id="nothing"),
        pytest.param(http(b"<html>"), "is not a Kubernetes API server", id="a-web-page"),
        pytest.param(http(BINARY), "is not a Kubernetes API server", id="bytes"),
        pytest.param(http(b"[1]"), "is not a Kubernetes API server", id="a-list"),
        pytest.param(http(b"[" * 9999), "is not a Kubernetes API server", id="deep"),
        pytest.param(http(b'{"items": [5]}'), "discovery cannot be read", id="other-json"),
        pytest.param(http(b'{"items": 5}'), "discovery cannot be read", id="no-list"),
        pytest.param(http(b"{", length=99), "does not answer", id="cut-short"),
        pytest.param(
            http(b"no", "500 Oops"), "podium: the server answered 500: no\n", id="a-fault"
        ),
        pytest.param(
            http(BINARY, "404 Not"), r"answered 404: '\x7fELF\x00", id="a-refusal-in-bytes"
        ),
    ],
)
def test_a_server_of_another_kind(shell, raw, told):
    with answering(raw) as url:
        shell.kubeconfig.write_text(kubeconfig(url))

        check_refused(shell.run("get", "nodes"), told)


OBJECT = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(BINARY, "cannot be read: not UTF-8 text", id="binary"),
        pytest.param(LAUGHS.encode(), "aliases counted", id="a-billion-laughs"),
        pytest.param(b"a: !!python/name:os.system", "not readable as YAML", id="code"),
        pytest.param(
            b"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: [b]}}",
            "object 1: metadata.namespace must be a string",
            id="namespace-list",
        ),
        pytest.param(
            b"{apiVersion: 1, kind: [Pod], metadata: a}",
            "object 1 has no apiVersion",
            id="nothing-of-its-type",
        ),
    ],
)
@pytest.mark.parametrize("command", ["apply", "delete"])
def test_manifests_that_are_none(shell, tmp_path, command, content, told):
    """Told before anything is asked of a server: there is none."""
    shell.kubeconfig.write_text(kubeconfig(NOBODY))
    (tmp_path / "x.yaml").write_bytes(content)
    (tmp_path / "good.yaml").write_text(OBJECT)

    for name in (str(tmp_path / "x.yaml"), "-"):
        done = shell.run(command, "-f", str(tmp_path / "good.yaml"), "-f", name, stdin=content)
        check_refused(done, told)


@pytest.mark.parametrize("content", ["", "---", "# nothing", "kind: List\nitems: []"])
def test_nothing_to_apply(shell, content):
    check_refused(shell.run("apply", "-f", "-", stdin=content), "-: no objects found")


def test_all_files_that_are_wrong_are_told(shell, tmp_path):
    shell.kubeconfig.write_text(kubeconfig(NOBODY))
    for name, content in (("a.yaml", BINARY), ("b.json", b"{"), ("c.txt", BINARY)):
        (tmp_path / name).write_bytes(content)

    done = shell.run("apply", "-f", str(tmp_path), "-f", "nowhere", "-f", "nul\0")

    check_refused(done, "nowhere: cannot be read: No such file or directory")
    assert "a.yaml: cannot be read" in done.stderr
    assert "embedded null byte" in done.stderr


@pytest.mark.parametrize("detach", [[], ["--detach"]], ids=["foreground", "detached"])
class TestUp:
    """What `podium up` does not start with."""

    @pytest.mark.parametrize("content", [b"precious", BINARY, b'{"pid":-1}', LAUGHS.encode()])
    def test_a_state_file_of_somebody_else_is_not_lost(self, shell, tmp_path, detach, content):
        theirs = tmp_path / "theirs"
        theirs.write_bytes(content)

        done = shell.run("up", *detach, "--state-file", str(theirs))

        check_refused(done, "is not a state file of podium; delete it if", 2)
        assert theirs.read_bytes() == content
        assert not shell.kubeconfig.exists()

    def test_a_state_file_that_cannot_be(self, shell, tmp_path, detach):
        (tmp_path / "file").write_text("x")

        done = shell.run("up", *detach, "--state-file", str(tmp_path / "file" / "state"))

        check_refused(done, "cannot be", 2)

    def test_one_file_for_both(self, shell, detach):
        done = shell.run("up", *detach, "--state-file", str(shell.kubeconfig))

        check_refused(done, "cannot be both the kubeconfig and the state file", 2)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            pytest.param(BINARY, "not UTF-8 text", id="binary"),
            pytest.param(b"contexts: {}\nusers: 5", "is not a kubeconfig", id="other-yaml"),
        ],
    )
    def test_a_kubeconfig_that_is_none(self, shell, detach, content, told):
        shell.kubeconfig.write_bytes(content)

        check_refused(shell.run("up", *detach), told, 2)
        assert shell.kubeconfig.read_bytes() == content
        assert not shell.state.exists()

    def test_a_kubeconfig_that_is_a_directory(self, shell, detach):
        shell.kubeconfig.mkdir()

        check_refused(shell.run("up", *detach), "Is a directory", 2)

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            pytest.param(BINARY, "not UTF-8 text", id="binary"),
            pytest.param(LAUGHS.encode(), "aliases counted", id="a-billion-laughs"),
            pytest.param(b"", "but is empty", id="empty"),
            pytest.param(b"kind: Pod", "but has Pod", id="a-pod"),
            pytest.param(b"kind: Node\n---\nkind: Node", "but has Node, Node", id="two"),
            pytest.param(b"{kind: Node, metadata: {labels: 5}}", "labels", id="labels"),
            pytest.param(b"{kind: Node, status: {capacity: {cpu: x}}}", "cpu", id="capacity"),
        ],
    )
    def test_a_template_that_is_none(self, shell, tmp_path, detach, content, told):
        (tmp_path / "node.yaml").write_bytes(content)

        done = shell.run("up", *detach, "--node-template", str(tmp_path / "node.yaml"))

        check_refused(done, told, 2)
        assert not shell.state.exists()


@pytest.mark.slow
def test_of_two_at_once_one_runs(shell):
    both = [shell.start("up", "--detach", "--nodes", "1", "--no-scheduler") for _ in range(2)]
    ends = [process.communicate(timeout=60) for process in both]
    try:
        assert sorted(process.returncode for process in both) == [0, 1]
        told = "".join(err for _, err in ends)
        assert "a cluster is running already" in told
        assert "Traceback" not in told
        assert shell.out("get", "nodes", "-o", "name") == "node/node-0\n"
    finally:
        assert shell.run("down").returncode == 0
    assert shell.run("get", "nodes").returncode == 1


@pytest.mark.slow
def test_up_again_after_a_crash(shell):
    first = shell.process("up", "--detach", "--nodes", "0", "--no-scheduler")
    with shell.state.open() as held:
        os.kill(json.loads(held.read())["pid"], signal.SIGKILL)
        fcntl.flock(held, fcntl.LOCK_SH)  # free once the process is gone

    second = shell.process("up", "--detach", "--nodes", "1", "--no-scheduler")
    try:
        assert (first.returncode, second.returncode) == (0, 0)
        assert shell.out("get", "nodes", "-o", "name") == "node/node-0\n"
        contexts = yaml.safe_load(shell.kubeconfig.read_text())["contexts"]
        assert [one["name"] for one in contexts] == ["podium"]
    finally:
        assert shell.run("down").returncode == 0


@pytest.mark.parametrize("content", [BINARY, b"precious", b'{"pid":-1,"url":"u","kubeconfig":"k"}'])
def test_down_touches_no_file_of_others(shell, tmp_path, content):
    theirs = tmp_path / "theirs"
    theirs.write_bytes(content)

    done = shell.run("down", "--state-file", str(theirs))
    assert (done.returncode, done.stdout) == (0, "podium: no cluster is running\n")
    assert f"{theirs} is not a state file of podium; delete it if" in done.stderr
    assert theirs.read_bytes() == content
    with theirs.open() as held:  # as if a cluster ran: nobody is sent a signal
        fcntl.flock(held, fcntl.LOCK_EX)
        check_refused(shell.run("down", "--state-file", str(theirs)), "try again in a moment")


def test_a_gate_of_a_later_release_names_the_flag_of_up(shell):
    gate = ["--feature-gates", "GenericWorkload=true", "--kubernetes-version", "1.36"]

    check_refused(shell.run("up", *gate), "or use --kubernetes-version=1.37", 2)


@pytest.mark.parametrize(
    "option", [["--plugin=rack.py"], ["--config=scheduler.yaml"], ["--watch"]], ids=" ".join
)
def test_options_of_the_scheduler_without_one(shell, option):
    done = shell.run("up", "--no-scheduler", *option)

    check_refused(done, "is for the scheduler: leave it out beside --no-scheduler", code=2)


@pytest.mark.parametrize("words", ["config show", "--help", "version"])
def test_a_full_disk(words):
    command = [sys.executable, "-m", "podium", *words.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)

    assert done.returncode == 2  # 1 would mean that a pod does not fit
    assert done.stderr == "podium: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("version", 2, "podium: the output cannot be written: Bad file descriptor\n"),
        ("--help", 2, "podium: the output cannot be written: Bad file descriptor\n"),
        ("get pods --kubeconfig nosuch", 1, None),
    ],
)
def test_a_closed_output(tmp_path, words, status, said):
    """Only a command that has something to print fails."""
    line = f"{sys.executable} -m podium {words} >&-"
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, env=env)

    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert said is None or done.stderr == said
