"""The page in a real Chromium while its scheduler is in trouble: it says so, and recovers."""

import re

import pytest

from tests.support.browser import Visit, chromium
from tests.support.scripted_dashboard import ScriptedDashboard

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AN_HOUR = 3_600_000  # milliseconds


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
    says(made.page, "Live")
    yield made
    assert [each for each in made.errors if "Failed to load resource" not in each] == []
    made.close()


def says(page, status):
    page.get_by_role("status").filter(has_text=re.compile(f"^{status}$")).first.wait_for()


def warns(page, text):
    page.get_by_role("alert").filter(has_text=text).first.wait_for()


def is_calm(page):
    says(page, "Live")
    page.locator("#banner").wait_for(state="hidden")


def test_a_scheduler_that_loses_its_lease_falls_behind_or_loses_its_watches(visit, shown):
    page = visit.page
    for trouble, status, text in (
        ({"leading": False}, "Standby", "another one leads"),
        ({"trouble": "pods: connection refused"}, "Out of date", "pods: connection refused"),
        ({"lag": 4.2}, "Live", "behind: it took 4.2 s"),
        ({"synced": False}, "Live", "still reading the cluster"),
    ):
        well = {**shown.overview["health"]}
        shown.health(**trouble)
        warns(page, text)
        says(page, status)
        shown.health(**well)
        is_calm(page)
    shown.say("busy", {"error": "the scheduler did not answer within 5 s"})
    warns(page, "Updates are late: the scheduler did not answer within 5 s")
    shown.say("alive", {})
    is_calm(page)


def test_a_scheduler_that_restarts_and_no_longer_knows_the_browser(visit, shown):
    page = visit.page
    shown.is_there = False
    shown.hang_up()
    warns(page, "does not answer")
    says(page, "Not connected")

    shown.is_there, shown.knows_us = True, False
    warns(page, "You are signed out")
    says(page, "Signed out")

    shown.knows_us = True  # somebody has opened a new link in another tab, and comes back
    shown.overview = {**shown.overview, "nodes": 77}
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    is_calm(page)
    page.get_by_text("77", exact=True).wait_for()


def test_a_scheduler_that_is_back_with_the_session(visit, shown):
    """As after a broken connection: nobody has to do anything."""
    shown.is_there = False
    shown.hang_up()
    warns(visit.page, "does not answer")
    shown.is_there = True
    shown.overview = {**shown.overview, "nodes": 78}
    is_calm(visit.page)
    visit.page.get_by_text("78", exact=True).wait_for()


@pytest.fixture
def sleeper(browser, shown):
    """A visit whose clock stands still: on a busy machine a page would look again by itself."""
    made = Visit(browser, "about:blank")
    made.page.clock.install(time=0)
    made.page.clock.pause_at(1)
    made.page.goto(shown.url)
    says(made.page, "Live")
    yield made
    made.close()


def test_a_browser_that_sleeps_for_an_hour(sleeper, shown):
    """Its stream is dead without an end, as after a suspended machine; no error was heard."""
    page = sleeper.page
    shown.streams.clear()  # they stay open, and nobody writes to them any more
    shown.is_there = False
    with page.expect_event("requestfailed"):
        page.clock.fast_forward(AN_HOUR)
    says(page, "Not connected")
    warns(page, "may be out of date")

    shown.overview = {**shown.overview, "nodes": 79}
    shown.is_there = True
    page.clock.fast_forward(5_000)
    is_calm(page)
    page.get_by_text("79", exact=True).wait_for()
    assert len(shown.streams) == 1


def test_a_scheduler_that_answers_late_gets_one_new_stream(sleeper, shown):
    """The page looks every three seconds whether it is back, but does not ask twice at a time."""
    page = sleeper.page
    shown.streams.clear()
    with shown.hold("overview") as asked:
        page.clock.fast_forward(AN_HOUR)
        assert asked()
        page.clock.fast_forward(4_000)  # twice 4 s is less than the 10 s that a page waits
        page.clock.fast_forward(4_000)
    is_calm(page)
    assert len(shown.streams) == 1


def test_a_page_that_gets_no_answer_asks_again_after_ten_seconds(sleeper, shown):
    page = sleeper.page
    shown.streams.clear()
    with shown.hold("overview") as asked:
        page.clock.fast_forward(AN_HOUR)
        assert asked()
        with page.expect_event("requestfailed"):
            page.clock.fast_forward(10_000)
        page.clock.fast_forward(3_000)
        assert asked()
    is_calm(page)
    assert len(shown.streams) == 1


def pending_group(count):
    pods = [
        {"pod": f"default/p{n}", "queue": "unschedulable", "since": "2026-01-02T03:04:05Z",
         "attempts": 1, "priority": 0}
        for n in range(50)
    ]  # fmt: skip
    return {
        "code": "InsufficientResource", "plugin": "NodeResourcesFit", "count": count, "pods": pods,
        "text": "has too little of a resource left", "oldest": "2026-01-02T03:04:05Z", "also": [],
        "message": "0/2 nodes are available: 2 Insufficient cpu.",
    }  # fmt: skip


def test_ten_thousand_pods_with_one_reason_are_one_row(visit, shown):
    shown.answers["pending"] = {"total": 10_000, "groups": [pending_group(10_000)]}
    shown.update(pending=10_000)
    page = visit.go("/pending")
    page.get_by_text("10,000 pods wait, in 1 group by reason").wait_for()
    page.get_by_text("Pods", exact=True).click()
    page.get_by_role("link", name="default/p49").wait_for()
    page.get_by_text("and 9,950 further pods").wait_for()
    assert page.locator("tbody tr").count() == 50
    shown.answers["pending"] = {"total": 0, "groups": []}
    shown.update(pending=0)
    page.get_by_text("No pod waits.").wait_for()


def test_a_change_while_an_answer_is_under_way_is_not_lost(visit, shown):
    shown.answers["pending"] = {"total": 2, "groups": [pending_group(2)]}
    with shown.hold("pending") as is_asked:
        page = visit.go("/pending")
        assert is_asked()
        shown.update(pending=2)
        shown.say("busy", {"error": "follows the update"})
        says(page, "Busy")
    page.get_by_text("2 pods wait").wait_for()
    shown.answers["pending"] = {"total": 0, "groups": []}
    shown.update(pending=0)
    page.get_by_text("No pod waits.").wait_for()


def attempt(number):
    return {
        "attempt": number, "at": "2026-01-02T03:04:05Z", "profile": "default-scheduler", "nodes": 2,
        "feasible": 0, "node": "", "message": "0/2 nodes are available: 2 Insufficient cpu.",
        "tied": 0, "best": [], "nominatedNode": "", "victims": [], "seconds": 0.001,
        "refusals": [{"plugin": "F", "reason": "Insufficient cpu", "nodes": 2}], "detailed": True,
    }  # fmt: skip


def test_a_pod_with_500_attempts(visit, shown):
    records = {
        "pod": "default/often", "state": "backoff", "node": "", "nominatedNode": "", "notes": [],
        "queued": None, "waiting": None, "attempts": [attempt(n) for n in range(1, 501)],
    }  # fmt: skip
    source = {"kind": "scheduler", "name": "", "recomputed": False, "notes": []}
    answer = {"source": source, "explanation": None, "records": records}
    shown.answers["pods/default/often"] = answer
    page = visit.go("/pod/default/often")
    rows = page.get_by_role("group", name="Attempts").locator("tbody tr")
    rows.first.get_by_text("500").wait_for()
    assert rows.count() == 50
    page.get_by_role("button", name="Show 450 older attempts").click()
    assert rows.count() == 500
    rows.last.get_by_text("1", exact=True).wait_for()
