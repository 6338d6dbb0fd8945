"""Make pictures of every screen of the dashboard: `make screenshots` runs this.

It starts a cluster with a story (three zones, devices, a drained node, pods that wait for different
reasons) and writes each screen in light and dark colours, for a desktop and a phone, to
build/screenshots. Those that the documentation shows go to docs/pictures. It needs Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent.parent
OUTPUT: Final = ROOT / "build" / "screenshots"
SHOWN: Final = {  # in the documentation: the picture of a screen, and its name there
    "overview-light-desktop": "dashboard-overview",
    "map-light-desktop": "dashboard-map",
    "pending-light-desktop": "dashboard-pending",
    "decision-light-desktop": "dashboard-decision",
    "map-dark-phone": "dashboard-phone",
}
SIZES: Final = {"desktop": (1280, 800), "phone": (390, 844)}
SCREENS: Final = {
    "overview": "#/",
    "map": "#/map",
    "node": "#/map?node=b-04&pod=default/training",
    "pending": "#/pending",
    "decision": "#/pod/default/training",
    "placed": "#/pod/default/web-0",
    "queue": "#/queue",
    "what-if": "#/what-if?drain=a-03",
    "configuration": "#/configuration",
}
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        story(Path(home)) as podium,
        sync_playwright() as driver,
    ):
        # Without its sandbox, which containers forbid: it sees only our own pages.
        browser = driver.chromium.launch(executable_path=found_browser(), chromium_sandbox=False)
        for colours in ("light", "dark"):
            for size in SIZES:
                photograph(browser, podium("dashboard").strip(), colours, size)
        browser.close()
    for picture, name in SHOWN.items():
        shutil.copy(OUTPUT / f"{picture}.png", ROOT / "docs" / "pictures" / f"{name}.png")
    print(f"{len(list(OUTPUT.glob('*.png')))} pictures in {OUTPUT.relative_to(ROOT)}")
    return 0


def found_browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit(f"install one of {', '.join(BROWSERS)}, for example: apt-get install chromium")
    return found


# --- pictures -------------------------------------------------------------------------------------


def photograph(browser: Browser, link: str, colours: Any, size: str) -> None:
    width, height = SIZES[size]
    context = browser.new_context(
        color_scheme=colours, viewport={"width": width, "height": height}, timezone_id="UTC"
    )
    page = context.new_page()
    page.goto(link)
    for name, address in SCREENS.items():
        page.goto(link.partition("?")[0] + address)
        settle(page, name)
        page.screenshot(path=OUTPUT / f"{name}-{colours}-{size}.png")
    page.keyboard.press("?")
    page.screenshot(path=OUTPUT / f"keys-{colours}-{size}.png")
    context.close()
    stranger = browser.new_context(
        color_scheme=colours, viewport={"width": width, "height": height}
    )
    page = stranger.new_page()
    page.goto(link.partition("?")[0])
    page.screenshot(path=OUTPUT / f"sign-in-{colours}-{size}.png")
    stranger.close()


def settle(page: Page, name: str) -> None:
    """Wait until the screen shows what it has asked for."""
    page.get_by_text("Live", exact=True).wait_for()
    if name == "what-if":
        page.get_by_role("button", name="Try it").click()
        page.get_by_role("heading", name="Before and after").wait_for()
    page.wait_for_timeout(700)
    expect(page.locator("main .working")).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(300)


# --- the cluster ----------------------------------------------------------------------------------


@contextmanager
def story(home: Path) -> Iterator[Any]:
    """Run a cluster in which something happens; yields how to run a command for it."""
    environment = {**os.environ, "XDG_STATE_HOME": str(home), "KUBECONFIG": str(home / "config")}

    def podium(*words: str, given: str = "") -> str:
        command = [sys.executable, "-m", "podium", *words]
        done = subprocess.run(
            command, env=environment, input=given, text=True, capture_output=True, check=True
        )
        return done.stdout

    templates = []
    for name, (zone, count, extra) in GROUPS.items():
        file = home / f"{name}.yaml"
        file.write_text(yaml.safe_dump(node(name, zone, extra)))
        templates.append(f"--node-template={file}={count}")
    podium("up", "--detach", "--feature-gates=GenericWorkload=true", *templates)
    try:
        podium("apply", "-f", "-", given=yaml.safe_dump_all(objects()))
        yield podium
    finally:
        podium("down")


GROUPS: Final[dict[str, tuple[str, int, dict[str, Any]]]] = {
    "a": ("east-a", 24, {}),
    "b": ("east-b", 24, {}),
    "c": ("east-c", 16, {}),
    "gpu": ("east-b", 6, {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}),
    "old": ("east-c", 4, {"unschedulable": True}),
}


def node(name: str, zone: str, spec: dict[str, Any]) -> dict[str, Any]:
    offered = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    if name == "gpu":
        offered["example.com/gpu"] = "8"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
        "spec": spec,
        "status": {"allocatable": offered, "capacity": offered},
    }


def objects() -> Iterator[dict[str, Any]]:
    yield deployment("shop", 260, "700m", "1Gi")
    yield deployment("search", 90, "1500m", "6Gi", zone="east-a")
    yield deployment("render", 12, "4", "8Gi", tolerations=[{"key": "gpu"}], gpus=3)
    yield pod("web-0", "500m", "1Gi")
    yield pod("training", "24", "32Gi")
    for number in range(12):
        yield pod(f"batch-{number}", "14500m", "2Gi", nodeSelector=ZONE_A)
    for number in range(4):
        yield pod(f"ssd-{number}", "1", "1Gi", nodeSelector={"disk": "ssd"})
    yield pod("release", "1", "1Gi", schedulingGates=[{"name": "example.com/quota"}])
    yield gang("simulation", 5)
    for number in range(3):
        yield pod(f"mpi-{number}", "2", "4Gi", schedulingGroup={"podGroupName": "simulation"})


def gang(name: str, size: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }


ZONE_A: Final = {"topology.kubernetes.io/zone": "east-a"}


def pod(name: str, cpu: str, memory: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": template(cpu, memory, **spec),
    }


def template(cpu: str, memory: str, **spec: Any) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": memory}
    if gpus := spec.pop("gpus", 0):
        requests["example.com/gpu"] = str(gpus)
    resources = {"requests": requests, "limits": {"example.com/gpu": str(gpus)} if gpus else {}}
    return {"containers": [{"name": "main", "image": "app", "resources": resources}], **spec}


def deployment(name: str, replicas: int, cpu: str, memory: str, **spec: Any) -> dict[str, Any]:
    labels = {"app": name}
    if zone := spec.pop("zone", ""):
        spec["nodeSelector"] = {"topology.kubernetes.io/zone": zone}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template(cpu, memory, **spec)},
        },
    }


if __name__ == "__main__":
    sys.exit(main())
