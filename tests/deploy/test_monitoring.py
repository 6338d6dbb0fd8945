"""Dashboard and alerts: every expression names metrics that podium has, and labels they have."""

import json
import re
from pathlib import Path

import pytest
import yaml

from podium.metrics import Metrics

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "components" / "monitoring"
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}
FROM_PROMETHEUS = {"up": set()}  # and the labels of a target, which every series gets
OF_TARGETS = {"job", "instance", "le"}
# Words of PromQL that look like the name of a metric.
WORDS = {"sum", "by", "rate", "increase", "absent", "histogram_quantile", "min_over_time"}


def series():
    """The labels of every series, by its name."""
    found = dict(FROM_PROMETHEUS)
    for family in Metrics().families():
        for suffix in SUFFIXES.get(family.kind, ("",)):
            found[f"{family.declared.name}{suffix}"] = set(family.declared.labels)
    return found


def dashboard():
    return json.loads((FOLDER / "dashboard.json").read_text())


def alerts():
    rule = yaml.safe_load((FOLDER / "alerts.yaml").read_text())
    return [each for group in rule["spec"]["groups"] for each in group["rules"]]


def expressions():
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"], target["legendFormat"]
    for alert in alerts():
        yield alert["alert"], alert["expr"], " ".join(alert["annotations"].values())


def problems(expression, text=""):
    """What is wrong with an expression, and with the labels that its legend or text shows."""
    known, used = series(), set()
    for name, selector in re.findall(r"\b([a-z_]{2,})\b(?:\{([^}]*)\})?(?!\s*=)", bare(expression)):
        if name in WORDS or not (selector or "_" in name or name == "up"):
            continue
        if name not in known:
            yield f"no metric {name}"
            continue
        labels = set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", selector))
        yield from (f"{name} has no {each}" for each in labels - known[name] - OF_TARGETS)
        used |= known[name]
    grouped = {name for by in re.findall(r"by \(([^)]*)\)", expression) for name in by.split(", ")}
    yield from (f"no label {each} to group by" for each in grouped - used - OF_TARGETS)
    shown = set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", text))
    yield from (f"the label {each} is not kept" for each in shown - grouped)


def bare(expression):
    """Without ranges, groupings and the values of labels."""
    without = re.sub(r"\[[^]]*\]|by \([^)]*\)", "", expression)
    return re.sub(r'"[^"]*"', '""', without)


@pytest.mark.parametrize(("title", "expression", "text"), list(expressions()))
def test_expressions_name_metrics_and_labels(title, expression, text):
    assert list(problems(expression, text)) == []


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        ("sum(scheduler_pending_podz)", "", ["no metric scheduler_pending_podz"]),
        ('scheduler_pending_pods{kueue="a"}', "", ["scheduler_pending_pods has no kueue"]),
        ("sum by (plugin) (scheduler_pending_pods)", "", ["no label plugin to group by"]),
        ("sum by (queue) (scheduler_pending_pods)", "{{node}}", ["the label node is not kept"]),
        ("rate(scheduler_preemption_victims[5m])", "", ["no metric scheduler_preemption_victims"]),
        ('absent(up{job="podium"} == 1)', "", []),
    ],
)
def test_what_counts_as_a_problem(expression, text, expected):
    assert list(problems(expression, text)) == expected


def test_every_alert_says_what_to_do():
    for alert in alerts():
        assert alert["labels"]["severity"] in ("critical", "warning")
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["description"]


def test_panels_do_not_overlap():
    cells = [
        (x, y)
        for panel in dashboard()["panels"]
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
