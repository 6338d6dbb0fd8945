"""Connections of aiohttp, which carries the watches: over TCP, or as the endpoint dials."""

from __future__ import annotations

import ssl
from typing import cast

import aiohttp
from aiohttp.client_proto import ResponseHandler

from podium.client.endpoint import Dial, Endpoint


def connector(endpoint: Endpoint, tls: ssl.SSLContext | None) -> aiohttp.BaseConnector:
    """Return a connector without a limit: each watch keeps its connection."""
    if endpoint.dial is None:
        return aiohttp.TCPConnector(limit=0, ssl=tls or False)
    return _DialConnector(endpoint.dial)


class _DialConnector(aiohttp.BaseConnector):
    def __init__(self, dial: Dial) -> None:
        super().__init__(limit=0)
        self._dial = dial

    async def _create_connection(self, *_: object) -> ResponseHandler:
        """Connect for one request; aiohttp's own connectors override the same method."""
        return cast(ResponseHandler, (await self._dial(self._factory))[1])
