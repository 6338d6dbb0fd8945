"""How fast the dashboard's map draws with 5,000 nodes, and whether the page's memory stays flat.

    python -m benchmarks.dashboard_page [--nodes N] [--pods N] [--minutes M]

Serves the real page with a stream that is made up: so many nodes and pods, and twice a second a
change of every fifth node. Chromium opens the map, scrolls through it at each size of the tiles,
and then stays for so many minutes; its heap is measured after a collection of garbage.
"""

import argparse
import asyncio
import random
import shutil
from contextlib import suppress
from statistics import median, quantiles

import msgspec
from aiohttp import web
from playwright.async_api import async_playwright

from podium.dashboard.links import ROOT
from podium.dashboard.sign_in import HEADERS
from podium.dashboard.site import _TYPES, pages
from podium.dashboard.values import Decision, Lanes, MapChange, NodeMap, Overview, ReasonCount

ZONE = "topology.kubernetes.io/zone"
SCROLL = """async (step) => {
  const box = document.querySelector('.canvas-box');
  const intervals = [], draws = [];
  let last = performance.now();
  for (let frame = 0; frame < 120; frame += 1) {
    box.scrollTop = (box.scrollTop + step) % Math.max(1, box.scrollHeight - box.clientHeight);
    if (step === 0) box.dispatchEvent(new Event('scroll'));
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    intervals.push(now - last);
    draws.push(Number(box.dataset.frame));
    last = now;
  }
  return {intervals, draws};
}"""


class Made:
    """A cluster that is made up."""

    def __init__(self, nodes, pods):
        self._random = random.Random(1)
        self._count, self._pods, self._tick = nodes, pods, 0
        each = pods // nodes
        self.columns = {
            name: [self._random.randrange(1001) for _ in range(nodes)]
            for name in ("cpu", "memory", "pods", "example.com/gpu")
        }
        self.pods = [max(0, each + self._random.randrange(-5, 6)) for _ in range(nodes)]
        self.flags = [self._random.choice((0, 0, 0, 0, 1, 2)) for _ in range(nodes)]

    def overview(self):
        self._tick += 1
        decisions = tuple(
            Decision(pod=f"default/pod-{self._tick}-{n}", at=f"2026-01-01T00:00:{n:02}.000000Z",
                     attempt=1, node=f"node-{n}")
            for n in range(20)
        )  # fmt: skip
        return Overview(
            at="2026-01-01T00:00:00.000000Z", server="http://127.0.0.1:1", release="1.37",
            profiles=("default-scheduler",), nodes=self._count, pods=self._pods,
            lanes=Lanes(active=self._tick % 100, unschedulable=10), pending=10 + self._tick % 100,
            bound_per_second=float(self._random.randrange(2000)), bound=self._tick * 500,
            reasons=(ReasonCount(code="InsufficientResource", plugin="NodeResourcesFit", text="x",
                                 pods=10),),
            decisions=decisions, map_version=1,
        )  # fmt: skip

    def map(self):
        names = tuple(f"node-{n:05}" for n in range(self._count))
        zones = tuple(f"zone-{n % 5}" for n in range(self._count))
        return NodeMap(version=1, names=names, zones=zones, columns=self.columns, pods=self.pods,
                       flags=self.flags)  # fmt: skip

    def change(self):
        nodes = self._random.sample(range(self._count), self._count // 5)
        columns = {name: [self._random.randrange(1001) for _ in nodes] for name in self.columns}
        pods = [self._random.randrange(20) for _ in nodes]
        return MapChange(version=1, nodes=nodes, columns=columns, pods=pods,
                         flags=[self.flags[n] for n in nodes])  # fmt: skip


def application(made):
    files = pages()

    async def page(request):
        name = request.match_info["name"] or "index.html"
        kind = _TYPES[name[name.rindex(".") :]]
        return web.Response(body=files[name], content_type=kind, headers=HEADERS)

    async def stream(request):
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(event("whole", {"overview": made.overview(), "map": made.map()}))
        with suppress(ConnectionError):  # the browser is gone
            while True:
                await asyncio.sleep(0.5)
                update = {"overview": made.overview(), "change": made.change()}
                await answer.write(event("update", update))
        return answer

    async def labels(request):
        zones = made.map().zones
        return web.json_response({"kind": "LabelColumn", "version": 1, "keys": [],
                                  "key": ZONE, "values": zones})  # fmt: skip

    app = web.Application()
    app.router.add_get(f"{ROOT}api/stream", stream)
    app.router.add_get(f"{ROOT}api/labels", labels)
    app.router.add_get(f"{ROOT}{{name:[^/]*}}", page)
    return app


def event(name, value):
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(value))


async def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, usual in (("nodes", 5000), ("pods", 50_000), ("minutes", 10)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    args = parser.parse_args()
    runner = web.AppRunner(application(Made(args.nodes, args.pods)))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0]
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=shutil.which("chromium"), chromium_sandbox=False,
            args=["--js-flags=--expose-gc"],
        )  # fmt: skip
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(f"http://{host}:{port}{ROOT}#/map")
        await page.get_by_text("nodes ·").first.wait_for()
        await frames(page)
        await memory(page, args.minutes)
        await browser.close()
    await runner.cleanup()


async def frames(page):
    for size, name in (
        (0, "all nodes fit"),
        (2, "16 px"),
        (3, "24 px"),
        (4, "40 px"),
        (5, "64 px"),
    ):
        await page.locator("#size").fill(str(size))
        await page.wait_for_timeout(700)
        found = await page.evaluate(SCROLL, 0 if size == 0 else 60)
        draws, intervals = found["draws"][5:], found["intervals"][5:]
        print(
            f"{name:>14}: drawing takes {shown(draws)}, a frame {shown(intervals)}",
            flush=True,
        )


def shown(times):
    return f"{median(times):5.1f} ms (95 %: {quantiles(times, n=20)[-1]:.1f})"


async def memory(page, minutes):
    """Stay on the map and the overview in turn; print the heap after each minute."""
    session = await page.context.new_cdp_session(page)
    for minute in range(minutes + 1):
        await session.send("HeapProfiler.collectGarbage")
        heap = await session.send("Runtime.getHeapUsage")
        counts = await session.send("Memory.getDOMCounters")
        print(
            f"{minute:3} min: heap {heap['usedSize'] / 1e6:.2f} MB, {counts['nodes']} DOM nodes, "
            f"{counts['jsEventListeners']} listeners",
            flush=True,
        )
        if minute == minutes:
            break
        for screen in ("#/", "#/map"):
            await page.goto(page.url.partition("#")[0] + screen)
            await page.wait_for_timeout(30_000)


if __name__ == "__main__":
    asyncio.run(main())
