"""Calls from any thread end up on the loop's."""

import asyncio
import threading

from podium.clock import give_way
from podium.live.event_loop import LoopThread


def test_a_call_on_the_loop_is_made_at_once():
    made = []

    async def run():
        LoopThread().call(made.append, 1)
        assert made == [1]

    asyncio.run(run())


def test_a_call_from_a_thread_is_made_on_the_loop_in_order():
    made = []

    def note(what):
        made.append((what, threading.get_ident()))

    async def run():
        home = LoopThread()

        def calls():
            home.call(note, 1)
            home.call(note, what=2)

        thread = threading.Thread(target=calls)
        thread.start()
        thread.join()
        assert made == []
        await give_way()
        assert made == [(1, threading.get_ident()), (2, threading.get_ident())]

    asyncio.run(run())
