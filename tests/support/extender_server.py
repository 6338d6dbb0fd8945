"""An extender for tests, as a process of its own: it does what it is told and tells what it heard.

PUT /<who> with {verb: how} says how to answer POST /<who>/<verb>: with a reply, or with a word for
misbehaviour. GET /<who>/<count> waits until so many calls came and answers with them. The first
line of its output is its port. Arguments: nothing, or the files of a certificate, its key and the
authority of client certificates.
"""

import json
import os
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOWS = {}
HEARD = {}
NEWS = threading.Condition()
NEVER = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):  # the library's name
        who = self.path.strip("/")
        HOWS[who], HEARD[who] = json.loads(self.body()), []
        self.answer(200, b"")

    def do_GET(self):
        who, count = self.path.strip("/").split("/")
        with NEWS:
            NEWS.wait_for(lambda: len(HEARD[who]) >= int(count))
            calls = list(HEARD[who])
        self.answer(200, json.dumps(calls).encode())

    def do_POST(self):
        body = self.body()
        who, verb = self.path.strip("/").split("/", 1)
        secure = isinstance(self.connection, ssl.SSLSocket)
        call = {
            "verb": verb,
            "type": self.headers["Content-Type"],
            "body": body.decode(),
            "client": str(self.connection.getpeercert()) if secure else "",
        }
        with NEWS:
            HEARD[who].append(call)
            NEWS.notify_all()
        self.act(HOWS[who][verb], body)

    def act(self, how, body):
        match how:
            case {"reply": reply}:
                self.answer(how.get("code", 200), json.dumps(reply).encode())
            case {"text": text}:
                self.answer(200, text.encode())
            case {"keep": names}:
                self.answer(200, json.dumps(kept(json.loads(body), names)).encode())
            case {"redirect": path}:
                self.answer(307, b"", Location=path)
            case str(word):
                self.misbehave(word)

    def misbehave(self, word):
        if word in ("stall", "half"):
            self.begin(1000)
        if word in ("hang", "stall"):
            NEVER.wait()
        if word == "flood":
            self.flood()
        if word == "exit":
            os._exit(1)
        self.close_connection = True

    def begin(self, length):
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(b'{"NodeNames":[')
        self.wfile.flush()

    def flood(self):
        self.begin(1 << 40)
        try:
            while True:
                self.wfile.write(b'"n",' * (1 << 16))
        except OSError:
            """Whoever asked has had enough."""

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, code, body, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nobody reads it."""


def kept(asked, names):
    """What an honest filter answers that lets these nodes pass."""
    if asked["NodeNames"] is not None:
        return {"NodeNames": [name for name in asked["NodeNames"] if name in names]}
    items = [node for node in asked["Nodes"]["items"] if node["metadata"]["name"] in names]
    return {"Nodes": {"metadata": {}, "items": items}, "Error": ""}


def main(*files):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if files:
        chain, key, authority = files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        context.load_verify_locations(authority)
        context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
