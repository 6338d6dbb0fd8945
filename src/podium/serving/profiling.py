"""`/debug/pprof` and `/debug/flags`, as far as they make sense for a Python program.

A profile is a list of stacks with counts, one per line: flame graph tools read that format.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from collections import Counter
from types import FrameType
from typing import Final

from aiohttp import web

from podium.clock import Clock, sleep
from podium.logs import level_of
from podium.serving import statuses

MOST_SECONDS: Final = 120
_USUAL_SECONDS: Final = 30
_SAMPLES_PER_SECOND: Final = 100
_MOST_DIGITS: Final = 9
_INDEX: Final = """\
<html>
<head>
<title>/debug/pprof/</title>
</head>
<body>
/debug/pprof/<br>
<ul>
<li><a href="profile?seconds=30">profile</a>: where the threads of this process spend their time,
as stacks with the number of samples, for flame graph tools; ?seconds= sets the duration</li>
<li><a href="goroutine?debug=2">goroutine</a>: the stacks of all threads at this moment</li>
</ul>
</body>
</html>
"""
_FLAGS: Final = """\
<html>
<head>
<title>/debug/flags/</title>
</head>
<body>
/debug/flags/<br>
<br>
flags:<br>
<table>
<tr>v<br>
</table>
<br>
full flags configurable<br>
</body>
</html>
"""


class Profiling:
    """The handlers; one profile is taken at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_sampling = False

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route("*", "/debug/pprof", self._redirect),
            web.route("*", "/debug/pprof/", self._index),
            web.route("*", "/debug/pprof/profile", self._profile),
            web.route("*", "/debug/pprof/goroutine", self._stacks),
            web.route("*", "/debug/pprof/{name:.*}", self._unknown),
            web.route("*", "/debug/flags", self._flags),
            web.route("*", "/debug/flags/v", self._set_verbosity),
            web.route("*", "/debug/flags/{name:.*}", self._flags),
        ]

    async def _redirect(self, request: web.Request) -> web.Response:
        text = '<a href="/debug/pprof/">Found</a>.\n\n'
        headers = {"Location": "/debug/pprof/"}
        return web.Response(status=302, text=text, content_type="text/html", headers=headers)

    async def _index(self, request: web.Request) -> web.Response:
        return web.Response(text=_INDEX, content_type="text/html")

    async def _unknown(self, request: web.Request) -> web.Response:
        return statuses.plain(404, "Unknown profile\n")

    async def _stacks(self, request: web.Request) -> web.Response:
        return statuses.plain(200, stacks())

    async def _profile(self, request: web.Request) -> web.Response:
        text = request.query.get("seconds", str(_USUAL_SECONDS))
        if not _is_number(text) or not 1 <= int(text) <= MOST_SECONDS:
            return statuses.plain(400, f"seconds must be from 1 to {MOST_SECONDS}\n")
        if self._is_sampling:
            return statuses.plain(500, "another profile is being taken; try again later\n")
        self._is_sampling = True
        try:
            return statuses.plain(200, await _sampled(int(text), self._clock))
        finally:
            self._is_sampling = False

    async def _flags(self, request: web.Request) -> web.Response:
        return web.Response(text=_FLAGS, content_type="text/html")

    async def _set_verbosity(self, request: web.Request) -> web.Response:
        """Set the verbosity of the log, as `kubectl` users know it from kube-scheduler."""
        if request.method != "PUT":
            return statuses.plain(406, "unsupported http method\n")
        text = (await _first_bytes(request, _MOST_DIGITS + 1)).decode(errors="replace")
        if not _is_number(text):
            shown = text.replace('"', r"\"")
            return statuses.plain(400, f'strconv.ParseUint: parsing "{shown}": invalid syntax\n')
        logging.getLogger().setLevel(level_of(int(text)))
        return statuses.plain(200, f"successfully set klog.logging.verbosity to {int(text)}\n")


def _is_number(text: str) -> bool:
    """Whether this is a number of a usual length: Python refuses to read the longest."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


async def _first_bytes(request: web.Request, most: int) -> bytes:
    """Return the beginning of the body; it may arrive in pieces."""
    try:
        return await request.content.readexactly(most)
    except asyncio.IncompleteReadError as ended:
        return ended.partial


def stacks() -> str:
    """Return the stack of each thread, innermost call last."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"thread {names.get(ident, '?')} ({ident}):\n{''.join(traceback.format_stack(frame))}"
        for ident, frame in sys._current_frames().items()
    )


async def _sampled(seconds: int, clock: Clock) -> str:
    """Look at the stacks of the other threads, a hundred times a second."""
    counts, own = Counter[str](), threading.get_ident()
    for _ in range(seconds * _SAMPLES_PER_SECOND):
        for ident, frame in sys._current_frames().items():
            if ident != own:
                counts[_collapsed(frame)] += 1
        await sleep(clock, 1 / _SAMPLES_PER_SECOND)
    return "".join(f"{stack} {count}\n" for stack, count in counts.most_common())


def _collapsed(frame: FrameType | None) -> str:
    names: list[str] = []
    while frame is not None:
        names.append(f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return ";".join(reversed(names))
