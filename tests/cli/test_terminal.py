"""Tables of commands: nothing is lost, broken or padded, whatever the cells are."""

from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from podium.cli import terminal

WORDS = st.text("abcXYZ-/", min_size=1, max_size=30)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=1)
)


@given(TABLES, st.sets(st.integers(0, 3)))
def test_columns_line_up_and_keep_their_cells(rows, right):
    lines = [str(line) for line in terminal.aligned(rows, right=right)]

    assert [line.split() for line in lines] == rows
    assert [line.rstrip() for line in lines] == lines
    for column in range(len(rows[0])):
        ends = {
            _at(line, row, column) + (len(row[column]) if column in right else 0)
            for line, row in zip(lines, rows, strict=True)
        }
        assert len(ends) == 1


def _at(line, row, column):
    """Where the cell begins: behind all that are before it."""
    place = 0
    for cell in row[:column]:
        place = line.index(cell, place) + len(cell)
    return line.index(row[column], place)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS).map(" ".join)), min_size=1), st.integers(1, 90))
def test_a_last_cell_goes_on_below_and_no_word_is_broken(rows, width):
    parts = terminal.folded(rows, width)
    whole: list[list[str]] = []
    for first, last in parts:
        if first:
            whole.append([first, str(last)])
        else:
            whole[-1][1] += f" {last}"

    assert [tuple(row) for row in whole] == rows
    room = max(width - max(len(first) for first, _ in rows) - 2, 20)
    assert all(len(last) <= room or " " not in str(last) for _, last in parts)


def test_styles_stay_with_their_cells():
    (header, line) = terminal.aligned([[Text("NAME", "bold"), "N"], ["a", Text("10", "red")]])

    assert [(str(header)[s.start : s.end], s.style) for s in header.spans] == [("NAME", "bold")]
    assert [(str(line)[s.start : s.end], s.style) for s in line.spans] == [("10", "red")]


def test_an_empty_table_has_no_lines():
    assert list(terminal.aligned([])) == []
