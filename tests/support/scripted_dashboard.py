"""A dashboard whose answers a test decides: schedulers that fail, restart or are far behind."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Event, Semaphore, Thread

import msgspec

from podium.dashboard.sign_in import HEADERS
from podium.dashboard.site import pages
from tests.support.looks import look

ROOT = "/dashboard/"
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


class ScriptedDashboard:
    """``with ScriptedDashboard() as shown:`` serves the real pages, with these answers.

    ``answers`` has JSON by path below ``api/``. A stream begins with everything, and goes on with
    what ``say`` is given. ``is_there`` and ``knows_us`` are switched off and on.
    """

    def __init__(self):
        self.is_there = True
        self.knows_us = True
        self.overview = msgspec.to_builtins(look().overview)
        self.map = msgspec.to_builtins(look().map)
        self.answers = {}
        self.streams = []
        self._held = {}

    def __enter__(self):
        shown = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                shown._answer(self)

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                shown._answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}{ROOT}"
        return self

    def __exit__(self, *_):
        self.hang_up()
        self._server.shutdown()
        self._server.server_close()

    def say(self, event, value):
        """Send an event to all who follow the stream."""
        for stream in self.streams:
            stream.put(f"event: {event}\ndata: {json.dumps(value)}\n\n".encode())

    def update(self, **changes):
        """Change the overview, for those who ask and those who follow."""
        self.overview = {**self.overview, **changes}
        self.say("update", {"overview": self.overview, "change": None})

    def health(self, **changes):
        self.update(health={**self.overview["health"], **changes})

    @contextmanager
    def hold(self, path):
        """Hold back the answers to this path, as they are when they are asked for, until the end.

        It yields a call that waits until the next answer is held.
        """
        asked, released = Semaphore(0), Event()
        self._held[path] = asked, released
        try:
            yield lambda: asked.acquire(timeout=30)
        finally:
            del self._held[path]
            released.set()

    def hang_up(self):
        """End all streams, as a process does that ends."""
        while self.streams:
            self.streams.pop().put(b"")

    def _answer(self, request):
        path = request.path.removeprefix(ROOT).partition("?")[0]
        if not self.is_there:
            request.close_connection = True
            request.connection.close()
        elif not self.knows_us:
            self._send(request, 401, "text/html", pages()["sign-in.html"])
        elif path == "api/stream":
            self._stream(request)
        elif path.startswith("api/"):
            self._json(request, path.removeprefix("api/"))
        else:
            name = path or "index.html"
            self._send(request, 200, TYPES[name.rpartition(".")[2]], pages()[name])

    def _json(self, request, path):
        known = {"overview": self.overview, "map": self.map, **self.answers}
        status, value = (200, known[path]) if path in known else (404, {"error": f"no {path}"})
        body = json.dumps(value).encode()
        if path in self._held:
            asked, released = self._held[path]
            asked.release()
            released.wait(timeout=60)
        self._send(request, status, "application/json", body)

    def _send(self, request, status, kind, body):
        request.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind}.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _stream(self, request):
        stream = SimpleQueue()
        whole = json.dumps({"overview": self.overview, "map": self.map})
        stream.put(f"event: whole\ndata: {whole}\n\n".encode())
        self.streams.append(stream)
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        try:
            while piece := stream.get():
                request.wfile.write(piece)
                request.wfile.flush()
        except OSError:
            pass  # the browser is gone
