"""Lines out of chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.client.watch_events import Lines, LineTooLong

texts = st.lists(st.binary(min_size=1, max_size=20).map(lambda text: text.replace(b"\n", b"x")))


@given(lines=texts, rest=st.sampled_from([b"", b"half"]), data=st.data())
def test_where_it_is_cut_does_not_matter(lines, rest, data):
    stream = b"".join(line + b"\n" for line in lines) + rest
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    splitter = Lines()

    assert [line for chunk in chunks for line in splitter.feed(chunk)] == lines


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([b"12345"], id="just-fits"),
        pytest.param([b"123\n", b"45", b"678\n"], id="lines-count-one-by-one"),
        pytest.param([b"1\n2\n3\n4\n5\n6\n"], id="many-short-ones"),
    ],
)
def test_lines_of_five_bytes_fit(chunks):
    lines = Lines(most_bytes=5)
    for chunk in chunks:
        lines.feed(chunk)


def test_a_line_without_an_end_is_not_kept():
    lines = Lines(most_bytes=5)
    lines.feed(b"1\n123")

    with pytest.raises(LineTooLong):
        lines.feed(b"456")
