"""HTTP/1.1 answers, however they are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.client.answer_parser import MOST_HEAD_BYTES, Answer, AnswerParser, BadAnswer

HEAD = b"HTTP/1.1 200 OK\r\nX: y\r\n"

bodies = st.binary(max_size=200)


def by_length(body):
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(pieces, trailer=b""):
    chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n" + trailer + b"\r\n"


def fed(data, cuts=()):
    """What comes out of an answer that arrives in pieces, and the parser."""
    parser = AnswerParser()
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    found = [parser.feed(data[begin:end]) for begin, end in pairwise(places) if begin < end]
    assert found[:-1] == [None] * (len(found) - 1)  # not before it is whole
    return found[-1], parser


@given(bodies, st.lists(st.integers(0, 10_000), max_size=5))
def test_a_body_of_known_length(body, cuts):
    answer, parser = fed(by_length(body), cuts)

    assert (answer.code, answer.body, answer.headers[b"x"]) == (200, body, b"y")
    assert parser.is_reusable


@given(
    st.lists(bodies, max_size=4),
    st.lists(st.integers(0, 10_000), max_size=5),
    st.sampled_from([b"", b"Sum: 1\r\n"]),
)
def test_a_body_in_chunks(pieces, cuts, trailer):
    answer, parser = fed(chunked(pieces, trailer), cuts)

    assert answer.body == b"".join(pieces)
    assert parser.is_reusable


@given(st.one_of(bodies.map(by_length), st.lists(bodies, max_size=3).map(chunked)), st.data())
def test_what_breaks_off_is_no_answer(whole, data):
    length = data.draw(st.integers(0, len(whole) - 1))
    parser = AnswerParser()

    assert parser.feed(whole[:length]) is None
    with pytest.raises(BadAnswer, match="hung up"):
        parser.end()


def test_a_body_up_to_the_end():
    parser = AnswerParser()

    assert parser.feed(HEAD + b"\r\nall there") is None
    assert parser.feed(b" is") is None
    assert parser.end().body == b"all there is"
    assert not parser.is_reusable


def test_an_answer_that_is_announced():
    announced = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"

    answer, _ = fed(announced + by_length(b"body"))

    assert answer == Answer(200, {b"x": b"y", b"content-length": b"4"}, b"body")


@pytest.mark.parametrize("code", [204, 304])
def test_codes_without_a_body(code):
    answer, parser = fed(b"HTTP/1.1 %d Nothing\r\n\r\n" % code)

    assert (answer.code, answer.body) == (code, b"")
    assert parser.is_reusable


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(HEAD + b"Connection: Close\r\nContent-Length: 0\r\n\r\n", id="server-closes"),
        pytest.param(by_length(b"body") + b"more", id="bytes-nobody-asked-for"),
        pytest.param(chunked([b"body"]) + b"more", id="bytes-after-the-last-chunk"),
    ],
)
def test_no_second_request_after(data):
    answer, parser = fed(data)

    assert answer is not None
    assert not parser.is_reusable


def test_headers_are_found_whatever_their_case_and_spaces():
    head = b"HTTP/1.1 429 Slow down\r\nRETRY-After:7 \r\ncontent-LENGTH: \t0\r\nEmpty:\r\n\r\n"

    answer = AnswerParser().feed(head)

    assert answer.headers == {b"retry-after": b"7", b"content-length": b"0", b"empty": b""}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", id="another-protocol"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n", id="an-old-one"),
        pytest.param(b"HTTP/1.1 two OK\r\n\r\n", id="no-code"),
        pytest.param(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", id="no-header"),
        pytest.param(b"HTTP/1.1 200 OK\r\na\nb: 2\r\n\r\n", id="line-without-return"),
        pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", id="negative-length"),
        pytest.param(HEAD + b"Content-Length: %b\r\n\r\n" % (b"9" * 5000), id="absurd-length"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", id="no-chunk"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1_0\r\n", id="pythons-number"),
        # Taken at its word it would be read again for ever.
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-6\r\n", id="negative-chunk"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, id="long-chunk"),
        pytest.param(b"H" * (MOST_HEAD_BYTES + 1), id="endless-head"),
    ],
)
def test_what_is_no_answer(data):
    with pytest.raises(BadAnswer):
        AnswerParser().feed(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(by_length(b"x" * 101), id="length"),
        pytest.param(chunked([b"x" * 30] * 4), id="chunks"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\n" + b"x" * 101, id="chunk"),
        pytest.param(HEAD + b"\r\n" + b"x" * 101, id="up-to-the-end"),
    ],
)
@pytest.mark.parametrize("step", [7, 1000])
def test_a_body_that_is_too_large_is_refused_while_it_arrives(data, step):
    with pytest.raises(BadAnswer, match="larger than"):
        feed_in_steps(AnswerParser(100), data, step)


def feed_in_steps(parser, data, step):
    for begin in range(0, len(data), step):
        parser.feed(data[begin : begin + step])


def test_a_body_of_the_most_bytes_is_read():
    assert AnswerParser(100).feed(by_length(b"x" * 100)).body == b"x" * 100
