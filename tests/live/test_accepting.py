"""The acceptor of a server, at the moment of its end."""

import asyncio
import socket

from podium.clock import FakeClock
from podium.live.accepting import Acceptor


def test_a_connection_in_the_moment_of_the_end_is_no_error():
    asyncio.run(end_while_a_connection_arrives())


async def end_while_a_connection_arrives():
    loop = asyncio.get_running_loop()
    errors = []
    loop.set_exception_handler(lambda _, context: errors.append(context))
    listening = socket.create_server(("127.0.0.1", 0))
    address = listening.getsockname()
    task = asyncio.ensure_future(Acceptor(listening, None, None, FakeClock()).run())
    await asyncio.sleep(0)
    # Both sockets are ready at the same look of the event loop, the one that cancels it first.
    ending, other = socket.socketpair()
    loop.add_reader(ending, task.cancel)
    other.send(b"x")
    with socket.create_connection(address):
        await asyncio.wait({task})
    loop.remove_reader(ending)
    ending.close()
    other.close()

    assert task.cancelled()
    assert errors == []
