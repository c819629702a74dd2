"""Frames of the NATS protocol: streams cut at any byte, headers and statuses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.nats import frames
from tests.support.owners import Message, batch_frames

TEXT = st.text(st.characters(exclude_characters=" \r\n\t", exclude_categories=["Cs"]), min_size=1, max_size=9)
HEADERS = st.dictionaries(
    st.from_regex(r"[A-Za-z-]{1,9}", fullmatch=True),
    st.text("abc: é", max_size=9).map(str.strip),
    min_size=1,
    max_size=3,
)


@given(
    st.lists(st.tuples(TEXT, st.binary(max_size=40), st.none() | HEADERS, st.just("") | TEXT), max_size=8),
    st.lists(st.integers(0, 60), max_size=20),
)
def test_frames_survive_being_cut_anywhere(messages: list[Any], cuts: list[int]) -> None:
    stream = b""
    wanted: list[Any] = []
    for number, (subject, data, headers, reply) in enumerate(messages):
        block = frames.header_block(headers) if headers else None
        sizes = f"{len(block)} {len(block) + len(data)}" if block else f"{len(data)}"
        sid = "7" if number % 3 else "12"
        words = ["HMSG" if block else "MSG", subject, sid, *([reply] if reply else []), sizes]
        stream += " ".join(words).encode() + b"\r\n" + (block or b"") + data + b"\r\n"
        wanted.append((int(sid), subject, data, block, reply))
        if number % 2:
            stream += b"PING\r\n"
            wanted.append(b"PING")
        assert block is None or frames.read_headers(block) == headers
    found: list[Any] = []

    parser = frames.Parser(lambda sid, some: found.extend((sid, *one) for one in some), found.append)
    rest = stream
    for cut in [*cuts, len(stream)]:
        parser.parse(rest[:cut])
        rest = rest[cut:]
    assert found == wanted


@given(st.lists(st.tuples(TEXT, st.binary(max_size=40), HEADERS), max_size=8))
def test_a_batch_is_frames_whose_sizes_are_bytes(messages: list[Any]) -> None:
    stream = batch_frames("b", [Message(subject, data, tuple(some.items())) for subject, data, some in messages], 999)
    for subject, data, some in messages:
        line, _, stream = stream.partition(b"\r\n")
        word, found, head, size = line.decode().split(" ")
        assert (word, found, stream[int(head) : int(size) + 2]) == ("HPUB", subject, data + b"\r\n")
        assert frames.read_headers(stream[: int(head)]).items() >= some.items()
        stream = stream[int(size) + 2 :]
    assert stream == b""


def test_a_status_is_a_header_too() -> None:
    block = b"NATS/1.0 409 Consumer Deleted\r\nNats-Pending-Messages: 3\r\n\r\n"
    assert frames.read_headers(block) == {
        "Status": "409",
        "Description": "Consumer Deleted",
        "Nats-Pending-Messages": "3",
    }
    assert frames.read_headers(b"NATS/1.0 503\r\n\r\n") == {"Status": "503"}


def test_messages_of_one_subscription_that_come_together_are_delivered_together() -> None:
    found: list[tuple[int, int]] = []
    parser = frames.Parser(lambda sid, some: found.append((sid, len(some))), lambda _: found.append((0, 0)))
    parser.parse(
        b"MSG a 7 1\r\nx\r\n" * 3 + b"MSG a 12 1\r\nx\r\nPING\r\n" + b"MSG a 12 1\r\nx\r\n" * 2 + b"MSG a 12 1\r\n"
    )
    assert found == [(7, 3), (12, 1), (0, 0), (12, 2)]


def test_what_stands_before_a_broken_frame_is_delivered() -> None:
    found: list[frames.Received] = []
    parser = frames.Parser(lambda _, some: found.extend(some), lambda _: None)
    with pytest.raises(frames.BadFrame):
        parser.parse(b"MSG a 7 b 1\r\nx\r\nMSG a x 1\r\ny\r\n")
    assert found == [("a", b"x", None, "b")]


@pytest.mark.parametrize("sizes", ["MSG a 7 -30", "HMSG a 7 -4 3", "HMSG a 7 5 3"])
def test_sizes_that_cannot_be_are_a_broken_frame(sizes: str) -> None:
    parser = frames.Parser(lambda *_: None, lambda _: None)
    with pytest.raises(frames.BadFrame, match=f"malformed line b'{sizes}'"):
        parser.parse(f"PING\r\n{sizes}\r\nxxxxx\r\n".encode())
