"""Bytes that are no text, in a token, a path, a user's name: refused, and no fault of podium."""

import asyncio

import pytest
from aiohttp.test_utils import make_mocked_request

from podium.serving import statuses
from tests.support.secure_serving import bearer, with_reviewer
from tests.support.serving import client_context


async def answer(running, request):
    reader, writer = await asyncio.open_connection(running.host, running.port, ssl=client_context())
    writer.write(request + b"Host: a\r\nConnection: close\r\n\r\n")
    found = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return found


@pytest.mark.parametrize(
    ("line", "header", "code"),
    [
        pytest.param(b"/metrics", b"Authorization: Bearer \xff\xfe\r\n", 401, id="token"),
        pytest.param(b"/livez", b"Authorization: Bearer \xed\xa0\x80\r\n", 401, id="surrogate"),
        pytest.param(b"/metrics", b"Authorization: Bearer  good\r\n", 403, id="two-spaces"),
        pytest.param(b"/metrics\xff", b"", 403, id="path"),
        pytest.param(b"/metrics%ff", b"", 403, id="quoted-path"),
        pytest.param(b"/%ed%a0%80", b"", 403, id="quoted-surrogate"),
        pytest.param(b"/metrics?pretty=\xff", b"", 403, id="query"),
        pytest.param(b"/metrics", b"User-Agent: \xff\r\n", 403, id="agent"),
    ],
)
def test_odd_bytes(line, header, code, tmp_path, caplog):
    async def scenario(running, reviewer):
        found = await answer(running, b"GET " + line + b" HTTP/1.1\r\n" + header)
        assert found.startswith((b"HTTP/1.1 %d " % code, b"HTTP/1.0 400 ")), found
        assert not any(record.exc_info for record in caplog.records)
        assert (await running.ask("/metrics", headers=bearer("good")))[0] == 200

    with_reviewer(tmp_path, scenario)


def test_a_user_whose_name_is_not_text_is_refused():
    """A proxy has sent it in a header."""
    refusal = statuses.forbidden(make_mocked_request("GET", "/metrics"), "ann\udcff", "")
    assert b'User \\"ann?\\" cannot get' in refusal.body
