"""`podium top`: its screen under keys, sizes and hostile names; its table; how it follows."""

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from podium.cli import keyboard as key
from podium.cli import terminal
from podium.cli.keyboard import keys_of
from podium.cli.top import LOOK_SECONDS, Viewer, look_twice
from podium.cli.top_lines import bar, fullest_nodes, one_line, spark
from podium.cli.top_screen import Leave, Question, Screen
from podium.cli.top_table import table
from podium.clock import FakeClock
from podium.errors import NoScheduler
from tests.support.looks import group, look, node_map

SIZES = st.tuples(st.integers(1, 140), st.integers(1, 40))
HOSTILE = "ns/\x1b[31m<script>\u202e\n" + "é\U0001f4a5" * 60
KEYS = st.sampled_from(
    [
        key.UP,
        key.DOWN,
        key.ENTER,
        key.LEFT,
        key.TAB,
        key.END,
        key.HOME,
        key.PAGE_DOWN,
        "?",
        "r",
        "x",
    ]
)
CPU = group("InsufficientResource", "default/big", "default/bigger")
TAINT = group("UntoleratedTaint", "default/shy")


def screen(*looks):
    made = Screen()
    for each in looks:
        made.update(each)
    return made


def text(shown, width=100, height=24):
    return "\n".join(str(line).rstrip() for line in shown.lines(width, height))


def chosen(shown):
    """The row that is shown in reverse."""
    found = [
        line for line in shown.lines(100, 24) if any("reverse" in str(s.style) for s in line.spans)
    ]
    return [str(line).strip() for line in found]


def press(shown, *keys):
    return [shown.press(each) for each in keys][-1]


# --- the screen ----------------------------------------------------------------------------------


def test_it_shows_queue_rate_reasons_and_the_fullest_nodes_first():
    lines = text(screen(look(CPU, TAINT, rate=12.5))).splitlines()

    assert "2 nodes  7 pods  12.5 pods/s" in lines[1]
    assert "half 4 ms, 99% 1.2 s" in lines[1]
    assert "backoff 2  unschedulable 3" in lines[2]
    reasons = lines[lines.index("Pending pods by reason: 3") + 1 :][:2]
    assert [each.split()[1:3] for each in reasons] == [
        ["2", "InsufficientResource"],
        ["1", "UntoleratedTaint"],
    ]
    nodes = lines[lines.index("Fullest nodes") + 1 :][:2]
    assert [each.split()[0] for each in nodes] == ["b", "a"]
    assert "memory    95%" in nodes[0]
    assert nodes[0].index("3 pods") == nodes[1].index("3 pods")


def test_a_queue_that_does_not_fit_leaves_out_its_empty_lanes():
    shown = screen(look(CPU))
    assert "active 0  backoff 2  unschedulable 2  gated 0" in text(shown, 80)
    assert text(shown, 60).splitlines()[2] == "queue  backoff 2  unschedulable 2"


@pytest.mark.parametrize(
    ("measure", "shown_as"),
    [
        pytest.param("devices of gpu.example.com", "gpu.exa…  40%", id="devices"),
        pytest.param("example.com/nic", "nic       40%", id="extended-resource"),
    ],
)
def test_a_measure_is_shown_without_the_domain_of_its_resource(measure, shown_as):
    nodes = node_map(a=(100, 100))
    nodes = msgspec.structs.replace(nodes, columns={**nodes.columns, measure: [400]})

    assert shown_as in text(screen(look(nodes=nodes)))


def test_enter_opens_a_reason_and_explains_a_pod():
    shown = screen(look(CPU, TAINT))
    assert "default/big" not in text(shown)

    assert press(shown, key.ENTER) is None
    assert "default/bigger" in text(shown)
    assert press(shown, key.DOWN, key.DOWN, key.ENTER) == Question("pod", "default/bigger")
    assert "asking" in text(shown)

    shown.answer(Question("pod", "default/big"), ["of another pod"])
    assert "of another pod" not in text(shown)
    shown.answer(Question("pod", "default/bigger"), ["it needs 8 cpu"])
    assert "it needs 8 cpu" in text(shown)
    assert press(shown, "r") == Question("pod", "default/bigger")
    press(shown, key.ESCAPE)
    assert "Fullest nodes" in text(shown)


def test_reasons_with_one_code_open_one_at_a_time():
    other = msgspec.structs.replace(group("Refused", "default/b"), text="another text")
    shown = screen(look(group("Refused", "default/a"), other))

    press(shown, key.DOWN, key.ENTER)

    assert "default/a" not in text(shown)
    assert "default/b" in text(shown)


def test_tab_goes_to_the_nodes_and_enter_explains_one():
    assert press(screen(look(CPU)), key.TAB, key.DOWN, key.ENTER) == Question("node", "a")


def test_the_chosen_row_stays_chosen_when_rows_come_and_go():
    shown = screen(look(CPU, TAINT))
    text(shown)
    press(shown, key.DOWN)
    assert "UntoleratedTaint" in chosen(shown)[0]

    shown.update(look(TAINT))
    assert "UntoleratedTaint" in chosen(shown)[0]
    shown.update(look(CPU))
    assert "InsufficientResource" in chosen(shown)[0]
    shown.update(look())
    assert chosen(shown) == []
    assert "no pod waits" in text(shown)


def test_q_leaves_a_page_first_and_then_the_program():
    shown = screen(look())
    assert press(shown, "?") is None
    assert "these keys" in text(shown)
    assert press(shown, "q") is None
    assert press(shown, "q") == Leave()


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(look(nodes=node_map()), "the cluster has no nodes", id="no-nodes"),
        pytest.param(look(leading=False), "on standby: another scheduler leads", id="standby"),
        pytest.param(look(synced=False), "still reading the cluster", id="not-synced"),
        pytest.param(look(trouble="cannot watch pods"), "cannot watch pods", id="broken-watch"),
        pytest.param(look(), "scheduling", id="well"),
    ],
)
def test_every_state_is_named(seen, expected):
    assert expected in text(screen(seen))


def test_a_scheduler_that_is_away_is_named_and_what_was_seen_stays():
    shown = screen(look(CPU))
    shown.lose("no podium scheduler answers at http://127.0.0.1:1: Connection refused")

    assert "trying again, shown is the last answer: no podium scheduler" in text(shown)
    assert "InsufficientResource" in text(shown)
    shown.update(look(CPU))
    assert "trying again" not in text(shown)


def test_ten_thousand_pods_with_one_reason_are_counted_not_listed():
    many = group("InsufficientResource", *(f"default/p{n}" for n in range(50)), count=10_000)
    shown = screen(look(many))
    press(shown, key.ENTER, key.END)

    assert "and 9,950 more" in text(shown)
    assert len(text(shown).splitlines()) == 24


@given(SIZES, st.lists(KEYS, max_size=12), st.booleans())
def test_lines_fit_whatever_the_size_the_keys_and_the_names(size, keys, is_away):
    nodes = node_map(**{HOSTILE: (1000, -1), "n": (0, 0)})
    shown = screen(look(group(HOSTILE, HOSTILE, "b/c"), CPU, nodes=nodes, trouble=HOSTILE))
    for each in keys:
        question = shown.press(each)
        if isinstance(question, Question):
            shown.answer(question, [HOSTILE * 3, "  b", ""])
    if is_away:
        shown.lose(HOSTILE)

    lines = [str(line) for line in shown.lines(*size)]

    assert len(lines) <= size[1]
    assert all(cell_len(line) <= max(size[0], 20) for line in lines)
    assert all(character.isprintable() for line in lines for character in line)


# --- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("\x1b[A\x1bOB", [key.UP, key.DOWN]),
        ("\x1b", [key.ESCAPE]),
        ("q?\r\t", ["q", "?", key.ENTER, key.TAB]),
        ("\x1b[5~\x1b[1;5C", [key.PAGE_UP, "\x1b[1;5C"]),
    ],
)
def test_keys_have_names(typed, expected):
    assert list(keys_of(typed)) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [(-1, "····"), (0, "····"), (250, "█···"), (375, "█▌··"), (1000, "████"), (5000, "████")],
)
def test_a_bar_has_one_width(share, expected):
    assert bar(share, 4) == expected


def test_a_spark_is_relative_to_the_highest_rate():
    assert spark([0, 5, 10]) == "▁▅█"
    assert spark([]) == ""
    assert spark([0, 0]) == "▁▁"


def test_text_of_the_cluster_cannot_leave_its_line_or_turn_it_around():
    assert one_line("a\n\t\x1b[2J\u202eb") == "a␊ ␛[2J\ufffdb"


def test_the_fullest_share_of_any_resource_counts():
    names = [node.name for node in fullest_nodes(node_map(a=(10, 20), b=(-1, 30), c=(500, 0)))]
    assert names == ["c", "b", "a"]
    assert [each.fullest for each in fullest_nodes(node_map(a=(10, 20)))] == ["memory"]


def test_the_table_has_a_fact_per_line():
    lines = [str(line) for line in table(look(CPU, group(HOSTILE, HOSTILE), rate=3.25))]

    assert lines[0].split() == ["ABOUT", "NAME", "VALUE", "DETAILS"]
    assert len({line.index("DETAILS") for line in lines[:1]}) == 1
    (reason,) = [line for line in lines if "InsufficientResource" in line]
    assert reason.split()[:3] == ["pending", "InsufficientResource", "2"]
    assert reason.endswith("default/big, default/bigger")
    assert [line.split()[1:3] for line in lines if line.startswith("node ")] == [
        ["b", "95%"],
        ["a", "50%"],
    ]
    assert all(line.isprintable() for line in lines)


# --- following -----------------------------------------------------------------------------------


class Scheduler:
    """Answers like a client of the dashboard; ``None`` stands for no answer."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def overview(self):
        self.asked.append("overview")
        return look().overview

    def look(self):
        self.asked.append("look")
        found = self.answers.pop(0)
        if found is None:
            raise NoScheduler("nobody answers")
        return found


async def waiting(clock):
    """Wait until the program waits for its clock."""
    while clock.next_call() is None:
        await asyncio.sleep(0)


def test_rates_are_measured_between_two_looks():
    asyncio.run(rates_are_measured_between_two_looks())


async def rates_are_measured_between_two_looks():
    clock, scheduler = FakeClock(), Scheduler(look(rate=4.0))
    task = asyncio.ensure_future(look_twice(scheduler, clock))
    await waiting(clock)
    assert scheduler.asked == ["overview"]
    clock.advance(LOOK_SECONDS)

    assert (await task).overview.bound_per_second == 4.0


def test_it_looks_every_second_and_recovers_when_the_scheduler_is_back():
    asyncio.run(it_looks_every_second_and_recovers())


async def it_looks_every_second_and_recovers():
    clock, scheduler = FakeClock(), Scheduler(look(CPU), None, look(TAINT))
    viewer = Viewer(lambda: scheduler, terminal.console(), clock)
    viewer.draw = lambda: None
    task = asyncio.ensure_future(viewer.follow())

    await waiting(clock)
    assert "InsufficientResource" in text(viewer.screen)
    for expected in ("trying again, shown is the last answer: nobody answers", "UntoleratedTaint"):
        clock.advance(LOOK_SECONDS)
        await waiting(clock)
        assert expected in text(viewer.screen)
    task.cancel()
