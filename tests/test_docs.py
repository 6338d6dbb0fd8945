"""The pages in docs/plugins tell all there is to know about each plugin: its place in the cycle,
its arguments, and everything that it can say to people. docs/metrics.md tells of each metric, and
docs/running.md what is lost without a right."""

import gzip
import json
import re
from pathlib import Path
from typing import get_args, get_origin

import msgspec
import pytest

from podium import app
from podium import framework as fwk
from podium.cli.arguments.scheduler_flags import FLAGS, GONE
from podium.client.resources import resource_of
from podium.config.feature_gates import OFF, SUPPORTED, FeatureGates, gates_of
from podium.legacy.plugins import LEGACY
from podium.live.watching import IN_STATE
from podium.metric_families import exponential_buckets
from podium.metrics import Metrics, PlacementMetrics
from podium.plugins import IN_TREE
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.plugins.preemption import DefaultPreemption
from podium.release import RELEASES, V1_36, V1_37
from podium.scheduler_plugins import OFFERED
from tests.support import source_messages

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "plugins"
RECORDED = ROOT / "tests" / "data" / "golden"
PLUGINS = (*IN_TREE, *LEGACY, *(load() for load in OFFERED.values()))
REJECTIONS = ("Unschedulable", "UnschedulableAndUnresolvable")

every_plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)


def page_of(name):
    """``NodeResourcesFit`` has docs/plugins/node_resources_fit.md."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", name)
    return PAGES / f"{'_'.join(words).lower()}.md"


@every_plugin
def test_plugin_has_a_page(plugin):
    assert page_of(plugin.name).read_text().startswith(f"# {plugin.name}\n")


def test_page_has_a_plugin():
    for_authors = {"writing.md", "migrating.md", "api.md"}
    assert {path.name for path in PAGES.iterdir()} - for_authors == {
        page_of(plugin.name).name for plugin in PLUGINS
    }


@every_plugin
def test_page_names_the_extension_points(plugin):
    (line,) = re.findall(r"^\| Extension points \| (.+) \|$", text_of(plugin), re.MULTILINE)
    words = line.split(", ")
    since_1_37 = {word.split(" ")[0] for word in words if "(1.37" in word}

    assert {word.split(" ")[0] for word in words} == points_in(V1_37, plugin)
    assert since_1_37 == points_in(V1_37, plugin) - points_in(V1_36, plugin)


def points_in(release, plugin):
    """The points of a plugin with every feature that adds some."""
    is_on = release >= V1_37
    names = ("GenericWorkload", "TopologyAwareWorkloadScheduling")
    gates = FeatureGates(release, dict.fromkeys(names, is_on))
    registry = app.in_tree_with_legacy(gates)
    points = registry.points(plugin.name) if plugin.name in registry else ()
    return {point.value[0].upper() + point.value[1:] for point in points}


@every_plugin
def test_page_has_every_argument(plugin):
    missing = [name for name in arguments(plugin.Args) if f"`{name}`" not in text_of(plugin)]

    assert not missing


def arguments(kind):
    """The names of all fields, and of those inside a field that is a group of arguments."""
    for field in msgspec.structs.fields(kind):
        yield field.encode_name
        for inner in (field.type, *get_args(field.type)):
            if isinstance(inner, type) and issubclass(inner, fwk.Args) and is_single(field.type):
                yield from arguments(inner)


def is_single(kind):
    return get_origin(kind) is not tuple


@every_plugin
def test_page_has_every_reason(plugin):
    page = text_of(plugin)
    missing = [text for text in source_messages.of(plugin) if not re.search(pattern(text), page)]

    assert not missing


def test_reasons_are_read_off_the_code():
    """In other modules of the package, filled in, out of constants; but no lines for the log."""
    fit, spread, preemption = (
        source_messages.of(plugin)
        for plugin in (NodeResourcesFit, PodTopologySpread, DefaultPreemption)
    )

    assert fit == {"Too many pods", "Insufficient {}"}
    assert "{} (missing required label)" in spread
    assert "No preemption victims found for incoming pod" in preemption
    assert not any("preemption failed" in text for text in preemption)


def text_of(plugin):
    return page_of(plugin.name).read_text()


def pattern(sentence):
    """Pages write something in place of what is filled in: ``Insufficient <resource>``."""
    return ".+".join(map(re.escape, sentence.strip().split(source_messages.FILLED_IN)))


def recorded_reasons():
    """What kube-scheduler said, by plugin."""
    found = {}
    for path in sorted(RECORDED.glob("*/*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            expect = json.loads(line).get("expect", {})
            for status in verdicts(expect) if isinstance(expect, dict) else ():
                if status.get("plugin") and status["code"] in REJECTIONS:
                    found.setdefault(status["plugin"], set()).update(status["reasons"])
    return found


def verdicts(expect):
    single = [expect[point] for point in ("preEnqueue", "preFilter") if point in expect]
    return [*single, *expect.get("filter", {}).values()]


def test_pages_have_every_recorded_reason():
    missing = {
        (name, reason)
        for name, reasons in recorded_reasons().items()
        for reason in reasons
        if not any(re.fullmatch(shape, reason) for shape in documented(name))
    }

    assert not missing


def documented(name):
    """The texts that a page shows as code, with its ``<placeholders>`` standing for anything."""
    for shown in re.findall(r"`([^`\n]+)`", page_of(name).read_text()):
        yield ".+".join(map(re.escape, re.split(r"<[\w ]+>", shown)))


def _every_metric():
    metrics = Metrics(shows_hidden=True)
    metrics.groups = PlacementMetrics(metrics.release)
    return metrics


def test_page_has_every_metric():
    page = (ROOT / "docs" / "metrics.md").read_text()
    documented = {cells[0]: tuple(cells[1:4]) for cells in metric_rows(page)}

    assert documented == {
        family.declared.name: (family.kind, family.declared.labels, family.declared.buckets)
        for family in _every_metric().families()
    }


def metric_rows(page):
    """Name, type, labels, buckets and occasion of each metric in the table."""
    for row in re.findall(r"^\| `.+ \|$", page, re.MULTILINE):
        name, kind, labels, buckets, occasion = (cell.strip() for cell in row[1:-1].split("|"))
        assert occasion
        yield name.strip("`"), kind, tuple(re.findall(r"`(\w+)`", labels)), bounds(buckets)


def bounds(text):
    """``0.001 × 2, 15``, or the bounds one by one."""
    numbers = tuple(map(float, re.findall(r"[\d.]+", text)))
    if "×" not in text:
        return numbers
    start, factor, count = numbers
    return exponential_buckets(start, factor, int(count))


def test_page_has_every_kind_that_podium_can_do_without():
    page = (ROOT / "docs" / "running.md").read_text()
    kinds = [resource_of(kind) for kind in IN_STATE.values()]

    assert set(re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|$", page, re.MULTILINE)) == {
        (kind.name, kind.without) for kind in kinds
    }


def test_page_has_every_flag():
    page = (ROOT / "docs" / "flags.md").read_text()

    assert rows(page, "### ", "--", cells=5) == {
        flag.name: (flag.type.name, *default_of(flag), flag.help, flag.effect.value)
        for flag in FLAGS.values()
    }
    assert rows(page, "## Flags that are gone", "--", cells=2) == {
        name: (why,) for name, why in GONE.items()
    }


def default_of(flag):
    """Where podium's own default depends on where it runs."""
    told = {
        "logging-format": "`text` on a terminal, else `json`",
    }
    shown = f"`{flag.shown_default}`" if flag.shown_default else ""
    return (told.get(flag.name, shown),)


def rows(page, heading, prefix, cells):
    """The other cells of each row below a heading, by the last name in its first one."""
    found = {}
    for row in re.findall(r"^\| `.+ \|$", page[page.index(heading) :], re.MULTILINE):
        first, *rest = (cell.strip() for cell in row[1:-1].split("|"))
        if len(rest) == cells - 1:
            found[first.split("`")[-2].removeprefix(prefix)] = tuple(rest)
    return found


def test_page_has_every_feature_gate():
    page = (ROOT / "docs" / "feature-gates.md").read_text()
    documented = rows(page, "# Feature gates", "", cells=8)

    assert {name: cells[:-1] for name, cells in documented.items()} == {
        name: (
            *(_stage_and_default(gates_of(release).get(name)) for release in RELEASES),
            "yes" if True in values else "no",
            "yes" if False in values else "no",
            *(_setting_in_podium(gates_of(release).get(name)) for release in RELEASES),
        )
        for name, values in SUPPORTED.items()
    }


def _stage_and_default(gate):
    if gate is None:
        return "—"
    locked = ", locked" if gate.is_locked else ""
    return f"{gate.stage.value} {'on' if gate.default else 'off'}{locked}"


def _setting_in_podium(gate):
    return "—" if gate is None else "on" if gate.is_on else "off"


def test_gates_that_are_implemented_are_tested():
    page = (ROOT / "docs" / "feature-gates.md").read_text()
    tested = {name: cells[-1] for name, cells in rows(page, "# ", "", cells=8).items()}

    for name, values in SUPPORTED.items():
        assert (tested[name] == "not implemented") is (values == OFF), name
    named = {path for text in tested.values() for path in re.findall(r"`(tests/[\w/.]+)`", text)}
    assert [path for path in named if not (ROOT / path).exists()] == []
