"""Sampled stacks become a table of stages and a picture."""

from collections import Counter
from xml.etree import ElementTree

import pytest

from benchmarks.flame_graph import table
from benchmarks.flame_picture import COLOURS, draw
from benchmarks.flame_stages import MOST_IN_A_ROW, REST, STAGES, Function, stacks_of, stages_of

LOOP = "Scheduler.run (podium/live/scheduler.py)"
WATCH = ("Reflector._watch (podium/client/reflector.py)",)
HANDLERS = ("KnownObjects._notify (podium/client/known_objects.py)",)


def stack(*frames):
    """``"Cycle.run (podium/cycle/cycle.py)"`` is a frame."""
    named = (frame.removesuffix(")").split(" (") for frame in ("run (asyncio/runners.py)", *frames))
    return tuple(Function(name, file) for name, file in named)


def recording(*stacks, thread="MainThread", folder="/opt/x/src/"):
    """What py-spy writes for these stacks, one sample each."""
    functions = list(dict.fromkeys(function for stack in stacks for function in stack))
    return {
        "shared": {"frames": [{"name": one.name, "file": folder + one.file} for one in functions]},
        "profiles": [
            {
                "name": f'Thread 7 "{thread}"',
                "samples": [[functions.index(one) for one in stack] for stack in stacks],
            }
        ],
    }


@pytest.mark.parametrize(
    ("frames", "stage"),
    [
        pytest.param((), REST, id="event-loop-itself"),
        pytest.param(WATCH, "read watch", id="watch"),
        pytest.param(
            (*WATCH, "EventDecoder.__call__ (podium/client/watch_events.py)"), "decode", id="decode"
        ),
        pytest.param((*WATCH, *HANDLERS), "handlers, state", id="handlers"),
        pytest.param(
            (*WATCH, *HANDLERS, "SchedulingQueue.add (podium/queue/scheduling_queue.py)"),
            "queue",
            id="queue-behind-handlers",
        ),
        pytest.param(
            (LOOP, "Scheduler.schedule_one (podium/live/scheduler.py)", "Cycle.run (podium/c.py)"),
            "cycle",
            id="innermost-stage",
        ),
        pytest.param(
            (LOOP, "Collector.between_slices (podium/live/slices.py)"),
            "garbage collection",
            id="collection-in-the-loop",
        ),
        pytest.param(
            (LOOP, "_PyEval_EvalFrameDefault (ceval.c)", "write (libc.so.6)"),
            "main loop",
            id="system-call",
        ),
        pytest.param(("Wire.data_received (podium/client/wire.py)",), "replies", id="reply"),
    ],
)
def test_a_stack_belongs_to_its_innermost_stage(frames, stage):
    stages = stages_of(Counter({stack(*frames): 3}))

    assert {name: tree.samples for name, tree in stages.items() if tree.samples} == {stage: 3}


@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param(stack("uv_run (core.c)", "epoll_pwait (libc.so.6)"), id="idle"),
        pytest.param(stack("gc_collect_main (libpython.so)")[1:], id="end-of-the-process"),
    ],
)
def test_what_is_no_work_is_left_out(left_out):
    assert not any(tree.samples for tree in stages_of(Counter({left_out: 5})).values())


@pytest.mark.parametrize("folder", ["/a/src/", "/a/site-packages/", "/usr/lib/python3.13/"])
def test_files_are_named_without_their_folder(folder):
    assert stacks_of(recording(stack(LOOP), folder=folder)) == {stack(LOOP): 1}


def test_libraries_of_the_system_have_only_a_name():
    found = stacks_of(recording(stack("read (libc.so.6)"), folder="/usr/lib/x86/"))

    assert found == {(Function("run", "runners.py"), Function("read", "libc.so.6")): 1}


def test_only_the_main_thread_counts():
    assert not stacks_of(recording(stack(LOOP), thread="podium-side"))


def test_a_process_that_waits_for_a_core_counts_little():
    waiting, working = stack(LOOP), stack(*WATCH)

    found = stacks_of(recording(working, *[waiting] * 500, working, waiting))

    assert found == {working: 2, waiting: MOST_IN_A_ROW + 1}


def test_stacks_of_a_stage_are_merged_from_where_it_begins():
    stages = stages_of(Counter({stack(LOOP, "a (podium/a.py)"): 2, stack(LOOP, "b (z/b.py)"): 1}))

    (loop,) = stages["main loop"].callees.values()
    assert (loop.name, loop.samples) == ("Scheduler.run", 3)
    assert {(one.name, one.file, one.samples) for one in loop.callees.values()} == {
        ("a", "podium/a.py", 2),
        ("b", "z/b.py", 1),
    }


def test_the_table_adds_up():
    rows = table(stages_of(Counter({stack(): 3, stack(*WATCH): 1})), scale=10).splitlines()

    assert len(rows) == 2 + len(STAGES) + 1
    assert "| read watch | `client/reflector` | 10 |" in rows
    assert rows[-1] == "| **sum** | | **40** |"


def test_the_picture_names_every_stage_with_its_time():
    picture = draw("<pods>", stages_of(Counter({stack(): 3, stack(*WATCH): 1})), scale=10)

    texts = ["".join(element.itertext()) for element in ElementTree.fromstring(picture).iter()]
    assert "<pods>, 40 µs" in texts
    assert "Reflector._watch (podium/client/reflector.py): 10.0 µs, 25.0 %" in texts
    assert all(any(text.startswith(f"{name} ") for text in texts) for name in STAGES)
    assert len(COLOURS) == len(STAGES)
