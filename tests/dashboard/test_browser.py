"""The dashboard in a real Chromium, beside a cluster that runs."""

import json
import re

import pytest
import yaml

from tests.support import dumps
from tests.support.browser import EVERY_RULE, Visit, chromium, problems
from tests.support.commands import Shell

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = {
    "script": "<script>document.title='owned'</script>",
    "image": "<img src=x onerror=\"document.title='owned'\">",
    "right-to-left": "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd",
    "emoji": "🎉👩‍🚀🏳️‍🌈" * 20,
}
LONGEST = "l" * 240
SCREENS = {
    "/": "Overview",
    "/map": "Cluster map",
    "/pending": "Pending pods",
    "/pod/default/huge": "default/huge",
    "/queue": "Queue",
    "/what-if": "What if",
    "/configuration": "Configuration and plugins",
}
MANY = 2000
GANG = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "training", "namespace": "default"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def shell(browser, tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("up"))
    gates = "--feature-gates=GenericWorkload=true"
    started = made.process("up", "--detach", "--nodes", "24", gates)
    assert started.returncode == 0, started.stderr
    pods = [
        dumps.manifest("huge", "100"),
        dumps.manifest("web", "1"),
        dumps.manifest("gated", schedulingGates=[{"name": "example.com/wait"}]),
        dumps.manifest(LONGEST, "100"),
        GANG,
        dumps.manifest("worker", schedulingGroup={"podGroupName": "training"}),
        dumps.manifest("lost", schedulingGroup={"podGroupName": "nowhere"}),
    ]
    made.out("apply", "-f", "-", stdin=yaml.safe_dump_all(pods))
    yield made
    made.run("down")


@pytest.fixture
def visit(browser, shell):
    made = []

    def open_page(**options):
        made.append(Visit(browser, shell.out("dashboard").strip(), **options))
        return made[-1]

    yield open_page
    for each in made:
        assert each.errors == []
        assert {url.split("/dashboard/")[0] for _, url in each.requests} == {
            each.base.removesuffix("/dashboard/")
        }
        each.close()


def is_live(page):
    page.get_by_role("status").filter(has_text=re.compile("^Live$")).first.wait_for()


def test_every_screen_opens_by_its_address(visit):
    seen = visit()
    for address, heading in SCREENS.items():
        page = seen.go(address)
        page.get_by_role("heading", name=heading, level=1, exact=True).wait_for()
    is_live(page)
    page.go_back()
    page.get_by_role("heading", name="What if", level=1).wait_for()


def test_a_reload_keeps_the_screen_and_the_session(visit):
    page = visit().go("/pod/default/huge")
    page.get_by_text("fits on none of 24 nodes").first.wait_for()
    page.reload()
    page.get_by_text("fits on none of 24 nodes").first.wait_for()
    page.get_by_text(re.compile("reduce the request for cpu")).first.wait_for()


def test_keys_and_search(visit):
    page = visit().go("/")
    is_live(page)
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("Find a pod or node").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.get_by_role("heading", name="Queue", level=1).wait_for()
    page.keyboard.press("/")
    page.keyboard.type("hug")
    page.get_by_role("option", name="pod default/huge").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="default/huge", level=1).wait_for()
    page.keyboard.press("/")
    page.keyboard.type("node-03")
    page.get_by_role("option", name="node node-03").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("complementary").get_by_text("Free room").first.wait_for()


def test_the_map_with_the_keyboard_alone(visit):
    page = visit().go("/map")
    is_live(page)
    page.get_by_role("img", name=re.compile("24 nodes")).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.locator(".spoken").get_by_text("node-02 · cpu").wait_for()
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary")
    panel.get_by_role("heading", name="node-02").wait_for()
    panel.get_by_role("button", name="does not fit").first.click()
    panel.get_by_text("The selected pod").wait_for()
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")


def test_a_click_on_a_tile_opens_the_node(visit):
    page = visit().go("/map")
    is_live(page)
    page.get_by_label("Group by").select_option("none")
    page.locator(".canvas-box[data-frame]").wait_for()  # drawn; perhaps still with a head above
    page.locator("canvas").click(position={"x": 20, "y": 50})
    page.get_by_role("complementary").get_by_role("heading", name="node-00").wait_for()
    assert "node=node-00" in page.url


def test_the_queue_shows_groups_with_their_members(visit):
    page = visit().go("/queue")
    training = page.locator("li.card", has_text="default/training")
    training.get_by_text("0 of 1 pod placed, needs 3 at once").wait_for()
    training.get_by_text("waits for 2 more").wait_for()
    training.get_by_text("Members").click()
    training.get_by_role("row", name="default/worker gated").wait_for()
    lost = page.locator("li.card", has_text="default/nowhere")
    lost.get_by_text("there is no such PodGroup").wait_for()
    page.get_by_role("link", name="default/worker").first.click()
    page.get_by_text(re.compile("default/worker waits until its pod group")).first.wait_for()


def test_names_and_texts_are_shown_as_text(visit):
    """Reason texts, gates and names come from outside; none becomes markup."""
    seen = visit()
    page = seen.go("/pending")
    page.get_by_text("Example").first.wait_for()
    page.get_by_text("Pods", exact=True).first.click()
    page = seen.go(f"/pod/default/{LONGEST}")
    page.get_by_role("heading", name=f"default/{LONGEST}", level=1).wait_for()
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]
    for text in HOSTILE.values():
        page = seen.go(f"/map?node={text}")
        page.get_by_role("complementary").get_by_role("alert").wait_for()
        assert text in page.get_by_role("complementary").text_content()
        assert page.title() == "Cluster map · podium"
        page = seen.go("/")
        page.get_by_role("combobox").fill(text)
        page.get_by_role("option").first.wait_for()
    assert page.locator("main script, main img").count() == 0
    seen.errors = [each for each in seen.errors if "404" not in each]  # there is no such node


def test_the_sandbox_shows_the_difference_and_writes_nothing(visit, shell):
    seen = visit()
    before = shell.out("get", "pods,nodes", "-A", "-o", "json")
    page = seen.go("/what-if")
    page.get_by_label("How many").fill("30")
    page.get_by_label("CPU each").fill("4")
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("30 pods get a node.").wait_for()
    page.get_by_role("button", name="Drain nodes").click()
    page.get_by_label("Nodes, separated by commas").fill("node-00, node-01")
    page.get_by_role("button", name="Try it").click()
    row = page.get_by_role("row", name=re.compile("^Nodes that take pods 24 22"))
    row.wait_for()
    page.get_by_role("button", name="Change a weight").click()
    page.get_by_role("option", name="TaintToleration").first.wait_for(state="attached")
    page.get_by_label("Score plugin").select_option("TaintToleration")
    page.get_by_role("button", name="Try it").click()
    page.get_by_text(re.compile("Every pod goes to the same node")).wait_for()

    page.get_by_role("button", name="Change the configuration").click()
    page.get_by_role("button", name="Start from the present one").click()
    page.get_by_label("A whole KubeSchedulerConfiguration").wait_for()
    page.wait_for_function("document.getElementById('configuration').value.length > 100")
    present = page.get_by_label("A whole KubeSchedulerConfiguration").input_value()
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("Every pod goes to the same node").wait_for()
    page.get_by_label("A whole KubeSchedulerConfiguration").fill(
        present.replace('"schedulerName": "default-scheduler"', '"schedulerName": "another"')
    )
    page.get_by_role("button", name="Try it").click()
    page.get_by_text(re.compile("elsewhere with this configuration")).wait_for()
    page.get_by_role("row", name=re.compile("web .* no node")).wait_for()
    page.get_by_label("A whole KubeSchedulerConfiguration").fill("nonsense: 1")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("alert").filter(has_text="the configuration").wait_for()
    seen.errors = [each for each in seen.errors if "422" not in each]

    after = shell.out("get", "pods,nodes", "-A", "-o", "json")
    assert versions(after) == versions(before)
    assert {method for method, _ in seen.requests} == {"GET", "POST"}
    assert {url for method, url in seen.requests if method == "POST"} == {f"{seen.base}api/what-if"}


def versions(listed):
    """The pods as they are stored; of nodes only which ones there are, as kubelets report."""
    objects = json.loads(listed)["items"]
    return sorted(
        (each["kind"], each["metadata"]["name"], each["metadata"]["resourceVersion"])
        if each["kind"] == "Pod"
        else (each["kind"], each["metadata"]["name"], "")
        for each in objects
    )


def test_every_control_is_reached_with_tab_and_has_a_name(visit):
    """What a screen reader's tree lists without a name cannot be used with one."""
    seen = visit()
    for address, heading in SCREENS.items():
        page = seen.go(address)
        page.get_by_role("heading", name=heading, level=1, exact=True).wait_for()
        is_live(page)
        page.locator("main .working").first.wait_for(state="detached")
        tree = page.locator("body").aria_snapshot()
        nameless = r"^\s*- (?:button|link|textbox|combobox|slider|img|searchbox)(?:$|:| \[)"
        assert re.findall(nameless, tree, re.MULTILINE) == [], address
        page.evaluate(MARK_CONTROLS)
        page.locator(".skip").focus()
        for _ in range(page.evaluate("window.controls.size") + 5):
            page.keyboard.press("Tab")
        assert page.evaluate("[...window.controls].map((each) => each.outerHTML)") == [], address


# Remembers what can be used and is visible, and forgets each of them when it gets the focus.
MARK_CONTROLS = """
  const wanted = 'a[href], button, input, select, textarea, summary, canvas[tabindex]';
  window.controls = new Set([...document.querySelectorAll(wanted)].filter(
    (each) => each.checkVisibility() && !each.closest('dialog') && !each.matches('.skip')));
  document.addEventListener('focusin', (event) => window.controls.delete(event.target));
"""


@pytest.mark.parametrize(
    ("colours", "width", "rules"),
    [
        pytest.param("light", 1280, EVERY_RULE, id="desktop"),
        pytest.param("light", 390, EVERY_RULE, id="phone"),
        pytest.param("dark", 1280, ["color-contrast"], id="dark"),  # all else is the same
    ],
)
def test_contrast_names_and_structure(visit, colours, width, rules):
    """axe-core finds nothing: WCAG 2 A and AA, on every screen."""
    seen = visit(color_scheme=colours, viewport={"width": width, "height": 800})
    for address, heading in SCREENS.items():
        page = seen.go(address)
        page.get_by_role("heading", name=heading, level=1, exact=True).wait_for()
        is_live(page)
        page.locator("main .working").first.wait_for(state="detached")
        assert problems(page, rules) == [], address


def test_it_is_live_while_many_pods_are_scheduled(visit, shell):
    seen = visit()
    page = seen.go("/")
    is_live(page)
    page.evaluate(
        "window.kept = document.querySelector('.figure .note');"
        "window.counted = [];"
        "new MutationObserver(() => { window.counted.push(window.kept.textContent); })"
        ".observe(window.kept, {childList: true, characterData: true, subtree: true});"
    )
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "many", "namespace": "default"},
        "spec": {
            "replicas": MANY,
            "selector": {"matchLabels": {"app": "many"}},
            "template": {
                "metadata": {"labels": {"app": "many"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]},
            },
        },
    }
    shell.out("apply", "-f", "-", stdin=yaml.safe_dump(manifest))
    page.get_by_text(re.compile(r"^2,00\d since the start$")).wait_for(timeout=90_000)
    counted = [
        int(re.sub(r"\D", "", each.partition(" ")[0])) for each in page.evaluate("window.counted")
    ]
    assert any(10 < each < MANY for each in counted)  # seen while pods were being scheduled
    assert counted == sorted(counted)
    page = seen.go("/map")
    page.get_by_text("The fullest nodes as a table").click()
    page.get_by_role("row", name=re.compile("node-")).first.wait_for()
    pods = page.locator("tbody tr td:last-child").all_text_contents()
    assert sum(int(each.replace(",", "")) for each in pods) >= MANY


def test_a_scheduler_that_ends_is_named_and_a_stranger_sees_nothing(browser, tmp_path):
    shell = Shell(tmp_path)
    assert shell.process("up", "--detach", "--nodes", "1").returncode == 0
    try:
        link = shell.out("dashboard").strip()
        seen = Visit(browser, link)
        is_live(seen.go("/"))
        stranger = browser.new_page()
        stranger.goto(link)  # it was used
        stranger.get_by_role("heading", name="Sign in to podium").wait_for()
        fonts = stranger.evaluate("getComputedStyle(document.body).fontFamily")
        assert fonts.startswith("system-ui")
        stranger.close()
    finally:
        shell.run("down")
    seen.page.get_by_role("alert").filter(has_text="does not answer").first.wait_for()
    seen.close()


def test_contrast_names_and_structure_of_the_sign_in_page(browser, shell):
    stranger = browser.new_page()
    stranger.goto(shell.out("dashboard").strip().partition("?")[0])
    stranger.get_by_role("heading", name="Sign in to podium").wait_for()
    for colours in ("light", "dark"):
        stranger.emulate_media(color_scheme=colours)
        assert problems(stranger) == [], colours
    stranger.close()
