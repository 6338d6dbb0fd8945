"""The secure port on a real control plane: every kind of caller asks podium and kube-scheduler.

Both are started with the arguments of kubeadm's manifest. docs/serving.md has the answers as a
table, which is compared with what was answered.
"""

import functools
import json
import re
from pathlib import Path

import pytest

from tests.support.control_plane import callers, kubeadm, sides
from tests.support.control_plane.callers import Caller, ask
from tests.support.control_plane.plane import ControlPlane, NoControlPlane
from tests.support.control_plane.processes import USER, free_port
from tests.support.control_plane.stage import Stage

pytestmark = pytest.mark.cluster

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
STACKS = "/debug/pprof/goroutine?debug=2"
# The columns of the table in the docs: paths with the same answers.
HEALTH = ("/healthz", "/livez", "/readyz", "/readyz?verbose", "/healthz?exclude=leaderElection")
CHECKS = ("/healthz/leaderElection", "/livez/ping", "/readyz/shutdown", "/readyz/leaderElection")
MONITORING = ("/metrics", "/metrics/slis", "/statusz", "/flagz")
REST = ("/metrics/resources", "/configz", "/debug/pprof/", "/debug/flags", STACKS)
NOWHERE = ("/", "/nowhere", "/metrics/", "/debug/pprof/nosuch")
COLUMNS = (HEALTH, CHECKS, MONITORING, REST, NOWHERE)
ODD = ("/healthz%2F..%2Fmetrics", "/healthz/..%2fmetrics", "/HEALTHZ", "/healthz;a")
PATHS = [*(path for column in COLUMNS for path in column), *ODD]
# A certificate that no authority has signed: kube-scheduler answers 401, podium's TLS refuses it.
STRANGER = "a stranger's certificate"
OWN = ("/debug/plugins", "/debug/podium", "/debug/podium/queue")
METHODS = [
    ("POST", "/healthz", None),
    ("HEAD", "/livez", None),
    ("DELETE", "/metrics", None),
    ("DELETE", "/metrics/slis", None),
    ("GET", "/debug/pprof", None),
    ("GET", "/debug/flags/v", None),
    ("PUT", "/debug/flags/v", "0"),
    ("PUT", "/debug/flags/v", "x"),
]
ACCEPTED = [
    "",
    "*/*",
    "text/plain",
    "application/json",
    "text/html",
    "application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
    "application/yaml;v=v1alpha1;g=config.k8s.io;as=Statusz",
    "application/json;v=v9;g=config.k8s.io;as=Statusz",
]
# Pages whose content is the scheduler's own.
OWN_CONTENT = (*MONITORING, "/metrics/resources", "/configz", "/debug/pprof/", STACKS)
OWN_CHECKS = re.compile(r"^\[\+\](event-loop|watches) ok\n", re.MULTILINE)


class Answers:
    """What one scheduler answers, once to each caller and path."""

    def __init__(self, port, known):
        self.port = port
        self.callers = {caller.name: caller for caller in known}
        self.master = self.callers["a certificate of system:masters"]

    @functools.cache  # noqa: B019
    def of(self, name, path):
        return ask(self.port, path, self.callers[name])

    def with_method(self, method, path, body):
        found = ask(self.port, path, self.master, method, body)
        return found.code, found.body if method != "GET" else "", found.headers.get("Location")

    def of_status(self, accept):
        caller = Caller("a master", {"Accept": accept}, self.master.certificate)
        found = ask(self.port, "/statusz", caller)
        kind = found.headers["Content-Type"]
        return found.code, kind, found.headers.get("Warning"), _refusal(found)


def _refusal(answer):
    return answer.body if answer.code >= 400 else ""


@pytest.fixture(scope="module")
def both(binaries, tmp_path_factory):
    """podium and kube-scheduler on one control plane; one of them leads."""
    folder = tmp_path_factory.mktemp("serving")
    with ControlPlane(binaries) as plane:
        known = callers.all_callers(plane, sides.real(plane), folder)
        kubeconfig = plane.kubeconfig_for(USER)
        our_port, their_port = free_port(), free_port()
        try:
            theirs = kubeadm.scheduler(
                [binaries["kube-scheduler"]], kubeconfig, their_port, folder / "kube-scheduler.log"
            )
        except NoControlPlane as missing:
            pytest.skip(str(missing))
        with theirs:
            version = f"--emulated-version={binaries.release}"
            log, text = folder / "podium.log", "--logging-format=text"
            ours = kubeadm.scheduler(kubeadm.PODIUM, kubeconfig, our_port, log, version, text)
            try:
                ours.until_said("Standing by")
                yield Answers(our_port, known), Answers(their_port, known)
            finally:
                ours.stop()


def test_every_caller_and_path(both):
    ours, theirs = both
    different = {
        (name, path): (ours.of(name, path).code, theirs.of(name, path).code)
        for name in ours.callers
        for path in PATHS
        if ours.of(name, path).code != theirs.of(name, path).code
    }
    assert different == {(STRANGER, path): ("TLS", 401) for path in PATHS}


def test_bodies(both):
    """Of refusals and of health; what a page shows is the scheduler's own."""
    ours, theirs = both
    for name in ours.callers:
        for path in PATHS:
            mine, other = ours.of(name, path), theirs.of(name, path)
            if name == STRANGER or (other.code == 200 and path in OWN_CONTENT):
                continue
            assert OWN_CHECKS.sub("", mine.body) == other.body, (name, path)
            assert mine.headers["Cache-Control"] == other.headers["Cache-Control"]
            assert mine.headers["Content-Type"] == other.headers["Content-Type"], (name, path)


def test_other_methods(both):
    ours, theirs = both
    assert [ours.with_method(*each) for each in METHODS] == [
        theirs.with_method(*each) for each in METHODS
    ]


@pytest.mark.parametrize("accept", ACCEPTED)
def test_forms_of_the_status(both, accept):
    ours, theirs = both
    assert ours.of_status(accept) == theirs.of_status(accept)


def test_fields_of_status_flags_and_configuration(both):
    ours, theirs = both

    def shown(answers, path, kind):
        accept = {"Accept": f"application/json;v=v1beta1;g=config.k8s.io;as={kind}"}
        caller = Caller("a master", accept, answers.master.certificate)
        return json.loads(ask(answers.port, path, caller).body)

    for path, kind in (("/statusz", "Statusz"), ("/flagz", "Flagz")):
        mine, other = shown(ours, path, kind), shown(theirs, path, kind)
        assert mine.keys() == other.keys()
        assert (mine["kind"], mine["metadata"]) == (other["kind"], other["metadata"])
    assert mine["flags"].keys() == other["flags"].keys() - {"help"}
    mine, other = (
        json.loads(each.of("a certificate of system:masters", "/configz").body)["componentconfig"]
        for each in both
    )
    assert other.keys() - mine.keys() <= {"percentageOfNodesToScore"}


def test_own_pages_need_rights_as_well(both):
    ours, _ = both
    known = ours.callers.keys() - {STRANGER}
    codes = {name: {ours.of(name, path).code for path in OWN} for name in known}
    refused = {name: found for name, found in codes.items() if found != {200}}
    assert codes["a certificate of system:masters"] == {200}
    assert set().union(*refused.values()) == {401, 403}
    assert len(refused) == len(codes) - 1


def test_the_table_of_the_docs(both):
    ours, _ = both
    expected = {}
    for name in ours.callers:
        cells = [{str(ours.of(name, path).code) for path in column} for column in COLUMNS]
        assert {len(cell) for cell in cells} == {1}, "paths of a column have different answers"
        expected[name] = [cell.pop() for cell in cells]
    assert documented_answers() == expected


def documented_answers():
    """The rows of the table, by caller; TLS answers nothing to those that it refuses."""
    rows = re.findall(r"^\| ([^|]+) \|((?: (?:\d{3}|refused) \|){5})$", PAGE.read_text(), re.M)
    return {name: cells.replace("refused", "TLS").strip(" |").split(" | ") for name, cells in rows}


def test_podium_as_kubeadm_starts_it(binaries, tmp_path):
    """Alone, with the arguments and the file of the manifest: it leads, is ready, and schedules."""
    with ControlPlane(binaries) as plane:
        port, log = free_port(), tmp_path / "podium.log"
        kubeconfig = plane.kubeconfig_for(USER)
        text = "--logging-format=text"
        with kubeadm.scheduler(kubeadm.PODIUM, kubeconfig, port, log, text) as podium:
            podium.wait_until(lambda: set(kubeadm.probe(port).values()) == {200})
            stage = Stage(sides.real(plane), "kubeadm")
            stage.ready_nodes("a")
            stage.pod("web")
            stage.until_bound("web")
            assert ask(port, "/metrics").code == 403
        assert f"Serving securely on 127.0.0.1:{port}" in podium.said
        assert " ERROR " not in podium.said
