"""A real browser for tests of the dashboard: the system's Chromium, driven by playwright."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000  # milliseconds: a browser that starts on a busy machine is slow
AXE = ROOT / "build" / "axe.min.js"


@contextmanager
def chromium():
    """Run a browser without a window; skip where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here: apt-get install chromium, or set CHROMIUM to its path")
    with driver.sync_playwright() as started:
        # Without its sandbox, which containers forbid: it sees only our own pages.
        browser = started.chromium.launch(executable_path=found, chromium_sandbox=False)
        yield browser
        browser.close()


def axe_core():
    """Return the text of axe-core, which is not part of podium; skip where it was not fetched."""
    path = Path(os.environ.get("AXE_CORE", AXE))
    if not path.exists():
        pytest.skip("no axe-core here: make axe-core fetches it, or set AXE_CORE to axe.min.js")
    return path.read_text()


EVERY_RULE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def problems(page, rules=EVERY_RULE):
    """Return what axe-core finds wrong with a page: names of rules, and some elements."""
    page.evaluate(axe_core())  # not as an element: the policy of the page forbids that
    found = page.evaluate("(rules) => axe.run({runOnly: rules})", rules)
    return [
        (each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found["violations"]
    ]


class Visit:
    """A page that is signed in, with everything that should not happen on it."""

    def __init__(self, browser, link, **options):
        self.context = browser.new_context(timezone_id="UTC", bypass_csp=False, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.base = link.partition("?")[0]
        self.errors = []
        self.requests = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append((request.method, request.url)))
        self.page.goto(link)

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def go(self, screen):
        self.page.goto(f"{self.base}#{screen}")
        return self.page

    def close(self):
        self.context.close()
