"""`podium up` announces its dashboard, and `podium dashboard` makes another link."""

import urllib.request
import webbrowser

import pytest

from podium.dashboard.links import ROOT
from tests.support.commands import Shell

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("up"))
    made.announced = made.process("up", "--detach", "--nodes", "1")
    assert made.announced.returncode == 0, made.announced.stderr
    yield made
    made.run("down")


def opened(link):
    direct = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor()
    )
    with direct.open(link, timeout=20) as answer:
        return answer.url, answer.read()


def test_both_links_open_the_page(shell):
    (line,) = [each for each in shell.announced.stdout.splitlines() if "dashboard: " in each]

    for link in (line.removeprefix("dashboard: "), shell.out("dashboard").strip()):
        url, page = opened(link)
        assert url.endswith(ROOT)
        assert b"<title>podium</title>" in page


def test_the_state_file_with_the_key_is_for_its_owner_alone(shell):
    assert shell.state.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("command", ["dashboard", "top"])
def test_without_a_cluster(shell, command):
    done = shell.run(command, "--name", "other")

    assert (done.returncode, done.stdout) == (1, "")
    assert "no cluster runs under this name; there are: podium; start one" in done.stderr


def test_no_browser(shell, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda link: False)

    done = shell.run("dashboard", "--open")

    assert done.returncode == 0
    assert done.stderr == "podium: no browser could be opened; open the link above yourself\n"


def test_open_needs_a_scheduler(tmp_path):
    done = Shell(tmp_path).run("up", "--no-scheduler", "--open")

    assert done.returncode == 2
    assert "--open is for the scheduler" in done.stderr
