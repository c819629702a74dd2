"""Frames of the NATS protocol: streams cut at any byte, headers and statuses."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.nats import frames

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
        words = ["HMSG" if block else "MSG", subject, "7", *([reply] if reply else []), sizes]
        stream += " ".join(words).encode() + b"\r\n" + (block or b"") + data + b"\r\n"
        wanted.append((7, subject, data, block, reply))
        if number % 2:
            stream += b"PING\r\n"
            wanted.append(b"PING")
        assert block is None or frames.read_headers(block) == headers
    found: list[Any] = []

    parser = frames.Parser(lambda *message: found.append(message), found.append)
    rest = stream
    for cut in [*cuts, len(stream)]:
        parser.parse(rest[:cut])
        rest = rest[cut:]
    assert found == wanted


def test_a_status_is_a_header_too() -> None:
    block = b"NATS/1.0 409 Consumer Deleted\r\nNats-Pending-Messages: 3\r\n\r\n"
    assert frames.read_headers(block) == {
        "Status": "409",
        "Description": "Consumer Deleted",
        "Nats-Pending-Messages": "3",
    }
    assert frames.read_headers(b"NATS/1.0 503\r\n\r\n") == {"Status": "503"}
