"""What screens say about answers that are empty, incomplete or about things that are not there."""

import pytest

from tests.support.browser import Visit, chromium
from tests.support.scripted_dashboard import ScriptedDashboard

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def shown():
    with ScriptedDashboard() as found:
        yield found


@pytest.fixture
def visit(browser, shown):
    made = Visit(browser, shown.url)
    made.page.get_by_role("status").filter(has_text="Live").first.wait_for()
    yield made
    assert [each for each in made.errors if "Failed to load resource" not in each] == []
    made.close()


def reason(number):
    return {"code": f"Code{number}", "plugin": "P", "text": "has no room", "pods": number}


def test_the_overview_counts_the_reasons_that_it_does_not_list(visit, shown):
    page = visit.page
    shown.update(reasons=[reason(number) for number in range(10, 0, -1)])
    page.get_by_role("link", name="Code3", exact=True).wait_for()
    assert page.get_by_role("link", name="Code2", exact=True).count() == 0
    page.get_by_text("and 3 pods for 2 further reasons").wait_for()
    shown.update(reasons=[reason(1)])
    page.get_by_text("further reason").wait_for(state="hidden")


def test_a_cluster_without_nodes_and_pods(visit, shown):
    shown.map = {**shown.map, "names": [], "zones": [], "pods": [], "flags": [], "columns": {}}
    shown.answers["pending"] = {"total": 0, "groups": []}
    nothing = {"nodes": 0, "pods": 0, "pending": 0, "reasons": [], "decisions": []}
    shown.overview = {**shown.overview, **nothing}
    shown.say("whole", {"overview": shown.overview, "map": shown.map})
    page = visit.page
    page.get_by_text("No pod waits.").wait_for()
    page.get_by_text("Nothing has been decided yet.").wait_for()
    visit.go("/map")
    page.get_by_text("This cluster has no nodes.").wait_for()
    page.locator("canvas").wait_for(state="hidden")
    visit.go("/pending")
    page.get_by_text("Every pod has its node, or there are no pods.").wait_for()


def pending(code, about, **changes):
    return {
        "code": code, "plugin": "P", "text": "has a claim that does not exist", "about": about,
        "count": 1, "oldest": "2026-01-02T03:04:05Z", "message": "", "also": [], "pods": [],
        **changes,
    }  # fmt: skip


def test_a_reason_says_whether_it_is_about_nodes_or_the_pod(visit, shown):
    text = "is refused by Quota: no money"
    groups = [
        pending("ClaimNotFound", "pod"),
        pending("InsufficientResource", "node", text="has too little of a resource left"),
        pending("Refused", "pod", plugin="Quota", text=text),
    ]
    shown.answers["pending"] = {"total": 3, "groups": groups}
    page = visit.go("/pending")
    page.get_by_text("P: the pod has a claim that does not exist.").wait_for()
    page.get_by_text("P: a node has too little of a resource left.").wait_for()
    page.get_by_text("The pod is refused by Quota: no money.", exact=True).wait_for()


def fix(node, tied, action="patch", kind="Pod"):
    change = {"action": action, "kind": kind, "name": node, "text": "t", "patch": [], "object": {}}
    return {
        "kind": "k", "text": f"help of {node}", "node": node, "tied": tied, "victims": [],
        "changes": [change],
    }  # fmt: skip


def explanation(**changes):
    return {
        "sentence": "It waits.", "state": "gated", "node": "", "profile": "default-scheduler",
        "nodes": 2, "feasible": 0, "fixes": [], "preemption": None, "funnel": [], "scores": None,
        "nearMisses": [], "wakes": [], "waitsFor": [], "notes": [], **changes,
    }  # fmt: skip


def queued(queue):
    return {
        "pod": "default/new", "queue": queue, "attempts": 0, "retriedAt": "2026-01-02T03:04:05Z",
    }  # fmt: skip


def answer(explained, state="gated", waiting=None):
    records = {
        "pod": "default/new", "state": state, "node": "", "nominatedNode": "", "notes": [],
        "queued": waiting, "waiting": None, "attempts": [],
    }  # fmt: skip
    source = {"kind": "scheduler", "name": "", "recomputed": True, "notes": ["plain hint"]}
    return {"source": source, "explanation": explained, "records": records}


def test_a_pod_that_was_never_tried_shows_no_numbers_of_an_attempt(visit, shown):
    wakes = [{"text": "a claim is added", "plugins": ["P"]}]
    explained = explanation(wakes=wakes)
    shown.answers["pods/default/new"] = answer(explained, waiting=queued("gated"))
    page = visit.go("/pod/default/new")
    page.get_by_text("This scheduler has not tried it yet.").wait_for()
    page.get_by_text("a claim is added").wait_for()
    page.get_by_text("Plain hint.", exact=True).wait_for()
    for absent in ("Funnel", "Scores", "Feasible"):
        assert page.get_by_text(absent, exact=True).count() == 0
    assert page.get_by_text("is tried again at").count() == 0  # no time opens a gate


def test_a_node_that_a_fix_adds_is_not_a_link(visit, shown):
    fixes = [fix("a", 2), fix("b", 1200), fix("a-new-1", 1, "create", "Node")]
    shown.answers["pods/default/new"] = answer(explanation(fixes=fixes), "not ours")
    page = visit.go("/pod/default/new")
    page.get_by_text("help of a, then it goes to a or another node.").wait_for()
    page.get_by_text("help of b, then it goes to b or one of 1,199 others.").wait_for()
    page.get_by_text("help of a-new-1, then it goes to a-new-1.").wait_for()
    page.get_by_text("left to another scheduler").wait_for()
    assert page.get_by_role("link", name="a-new-1").count() == 0


def test_a_node_of_a_trial_alone_is_not_a_link(visit, shown):
    figures = {"nodes": 2, "pods": 1, "pending": 0, "resources": []}
    placed = [
        {"pod": "default/p", "node": "a-new-1"},
        {"pod": "default/q", "node": shown.map["names"][0]},
    ]
    lists = {each: [] for each in ("moves", "victims", "unplaced", "blocked", "gone", "waiting")}
    shown.answers["what-if"] = {
        "kind": "Report", "fits": True, "notes": [], "before": figures, "after": figures,
        "placed": placed, **lists,
    }  # fmt: skip
    page = visit.go("/what-if")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("cell", name="a-new-1").wait_for()
    page.get_by_role("link", name=shown.map["names"][0], exact=True).wait_for()
    assert page.get_by_role("link", name="a-new-1").count() == 0
