"""Extenders in other processes, and schedulers' side of talking to them."""

import asyncio
import itertools
import json
import ssl
import subprocess
import sys
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

from podium import config
from podium.clock import FakeClock
from podium.extender import HttpExtender

HERE = Path(__file__).parent
CERTIFICATES = HERE.parent / "client" / "certificates"
TLS_FILES = [str(CERTIFICATES / name) for name in ("server.pem", "server.key", "ca.pem")]


class Server:
    """The process of ``extender_server.py``; a ``with`` block ends it."""

    def __init__(self, *, secure=False):
        command = [sys.executable, str(HERE / "extender_server.py"), *(TLS_FILES if secure else ())]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.scheme = "https" if secure else "http"
        self._names = map("extender-{}".format, itertools.count())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # it may be about to answer nothing for ever
        self.process.wait(timeout=30)
        self.process.stdout.close()

    def told(self, **hows):
        """An extender of this process that answers each verb as told."""
        told = Told(self, next(self._names))
        told.changes(**hows)
        return told

    def request(self, method, path, value=None):
        if self.scheme == "https":
            anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            anybody.check_hostname = False
            anybody.verify_mode = ssl.CERT_NONE
            connection = HTTPSConnection("127.0.0.1", self.port, context=anybody)
        else:
            connection = HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, json.dumps(value))
        answer = connection.getresponse().read()
        connection.close()
        return json.loads(answer or b"null")


class Told:
    """One extender of a server, by the name in its address."""

    def __init__(self, server, who):
        self.server = server
        self.who = who

    @property
    def url(self):
        return f"{self.server.scheme}://127.0.0.1:{self.server.port}/{self.who}"

    def calls(self, count=0):
        """All calls so far; waits until so many came."""
        return self.server.request("GET", f"/{self.who}/{count}")

    def changes(self, **hows):
        """From now on it answers like this, and has heard of nothing yet."""
        self.server.request("PUT", f"/{self.who}", hows)

    def bodies(self):
        """The bodies of all calls so far."""
        return [json.loads(call["body"]) for call in self.calls()]

    def body(self):
        """The body of the only call."""
        (body,) = self.bodies()
        return body

    async def called(self, count=1):
        """Wait for calls while the event loop goes on."""
        await asyncio.to_thread(self.calls, count)

    def extender(self, clock=None, **settings):
        """What a scheduler makes of it when it is configured like this."""
        wanted = config.Extender(url_prefix=self.url, **settings)
        return HttpExtender(wanted, clock or FakeClock())


def ask(extender, call, *about):
    """Call one method of an extender and close it."""

    async def run():
        try:
            return await getattr(extender, call)(*about)
        finally:
            await extender.close()

    return asyncio.run(run())
