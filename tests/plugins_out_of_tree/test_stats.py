"""What a running scheduler tells of its plugins, and how people see it."""

import io
import re
from pathlib import Path

from rich.console import Console

from podium import app, config
from podium import framework as fwk
from podium.app import plugin_loading
from podium.cli import plugin_text
from podium.cycle.services import ProfileHandle
from podium.framework import signature
from podium.live.endpoints import stats
from podium.testing import Cluster
from podium.testing.builders import node, pod

ROOT = Path(__file__).resolve().parents[2]


class Choosy(fwk.FilterPlugin):
    name = "Choosy"

    def filter(self, state, pod, node):
        if pod.name == "broken":
            raise ValueError("broken")
        return fwk.Status.unschedulable("no") if node.name == "a" else None


class Signed(Choosy):
    name = "Signed"
    sign = fwk.pod_fields("metadata.name")


def ran(plugin, *names):
    registry = plugin_loading.registry(plugins=[plugin])
    core = app.build(config.default(registry), registry=registry)
    for each in ("a", "b", "c"):
        core.cluster.set_node(node(each))
    for name in names:
        core.cycle(fwk.QueuedPod.of(pod(name))).run()
    return stats(core.profiles)


def text(found, width=200):
    out = io.StringIO()
    plugin_text.print_stats(found, Console(file=out, width=width))
    return out.getvalue()


def test_calls_by_plugin_and_point():
    (profile,) = ran(Choosy, "web", "broken")["profiles"]
    (row,) = [each for each in profile["calls"] if each["plugin"] == "Choosy"]

    assert profile["name"] == "default-scheduler"
    assert profile["withoutSignature"] == ["Choosy"]
    assert (row["point"], row["calls"], row["rejections"], row["errors"]) == ("Filter", 2, 1, 1)
    assert row["evaluations"] == 3 + 1
    assert row["seconds"] >= row["longest"] > 0


def test_who_is_asked_again_for_every_pod():
    shown = text(ran(Choosy, "web"))
    found = re.search(
        r"Choosy has no signature: it is asked again for every pod "
        r"\((\d+)% of the time spent in plugins\)\. docs/plugins/writing\.md#signatures shows how",
        shown,
    )
    assert found is not None, shown
    assert int(found[1]) <= 100  # on a busy machine it may round to 0
    assert "Every plugin has a signature" in text(ran(Signed, "web"))
    assert ran(Signed, "web")["profiles"][0]["withoutSignature"] == []


def test_the_most_expensive_comes_first():
    shown = text(ran(Choosy, "web")).splitlines()
    totals = [float(line.split()[4]) for line in shown[2:-1] if len(line.split()) == 9]

    assert len(totals) > 10
    assert totals == sorted(totals, reverse=True)


def test_names_and_figures_stay_whole_on_a_narrow_terminal():
    lines = text(ran(Choosy, "web"), width=60).splitlines()
    names = {line.split()[0] for line in lines[2:] if len(line.split()) == 9}

    assert lines[1].split()[:4] == ["PLUGIN", "POINT", "CALLS", "EVALUATIONS"]
    assert {"Choosy", "NodeResourcesFit", "NodeDeclaredFeatures"} <= names


def test_before_the_first_pod():
    assert "no plugin was asked yet" in text(ran(Choosy))


def test_without_an_api_server_listers_find_nothing():
    core = app.build(config.default(app.in_tree()))
    handle = ProfileHandle(core.services, "default-scheduler", core.profiles)
    lister = handle.lister("foos.v1.example.com")

    assert lister.get("a") is None
    assert list(lister) == []
    assert core.services.listed == {"foos.v1.example.com"}


def test_the_log_names_plugins_without_a_signature(caplog):
    caplog.set_level("INFO")
    with Cluster(plugins=[Choosy]):
        pass

    lines = [record.getMessage() for record in caplog.records]
    (line,) = [line for line in lines if "has no signature" in line]
    assert "plugin='Choosy' profile='default-scheduler' see='docs/plugins/writing.md" in line


def test_the_page_for_authors_has_a_section_on_signatures():
    file, _, heading = signature.PAGE.partition("#")

    assert f"\n## {heading.capitalize()}\n" in (ROOT / file).read_text()
