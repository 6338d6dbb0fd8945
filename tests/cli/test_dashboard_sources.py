"""Which scheduler `podium top` shows."""

import asyncio

import pytest

from podium.cli import build_parser
from podium.cli.dashboard_sources import connector
from podium.errors import PodiumError
from tests.support.dashboard import KEY, dashboard


def connected(*options):
    return connector(build_parser().parse_args(["top", *options]))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param(["--server", "127.0.0.1:1"], "is not an address", id="no-scheme"),
        pytest.param(["--server", "ftp://a"], "is not an address", id="other-scheme"),
        pytest.param(["--server", "http://a:b?token=c"], "Port could not be cast", id="bad-port"),
        pytest.param(["--server", "https://a"], "with --token-file", id="no-token"),
        pytest.param(["--token-file", "f"], "need --server", id="token-alone"),
        pytest.param(
            ["--server", "https://a", "--token-file", "f", "--certificate-authority", "nowhere"],
            "nowhere: cannot be read as certificates", id="no-authority",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(options, error):
    with pytest.raises(PodiumError, match=error):
        connected(*options)


def test_a_token_file_without_a_token(tmp_path):
    empty = tmp_path / "token"
    connect = connected("--server", "https://127.0.0.1:9", "--token-file", str(empty))
    with pytest.raises(PodiumError, match="token: cannot be read"):
        connect()
    empty.write_text("\n")
    with pytest.raises(PodiumError, match="has no bearer token"):
        connect()


def test_a_token_is_read_again_and_a_link_is_used_once(tmp_path):
    async def scene():
        async with dashboard() as shown:
            token = tmp_path / "token"
            token.write_text("wrong")
            connect = connected("--server", shown.address, "--token-file", str(token))
            with pytest.raises(PodiumError, match="does not let this user in"):
                await asyncio.to_thread(connect().overview)
            token.write_text(f"{KEY}\n")
            assert (await asyncio.to_thread(connect().overview)).nodes == 3

            link = shown.link
            first, second = connected("--server", link), connected("--server", link)
            for _ in range(2):  # the session goes on
                assert (await asyncio.to_thread(first().overview)).nodes == 3
            with pytest.raises(PodiumError, match="a link works once"):
                await asyncio.to_thread(second().overview)
            with pytest.raises(PodiumError, match="no pod default/nothing"):
                await asyncio.to_thread(first().explain_pod, "default/nothing")

    asyncio.run(scene())
