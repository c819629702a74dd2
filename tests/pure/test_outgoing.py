"""What is repeated of answers of others, and how they are unpacked."""

import base64
import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine import outgoing
from phaseline.engine.outgoing import LONGEST, MASK, PIECE, TooLarge, Unpacking, said

TOKEN = "sha256~Zm9vYmFyLXNlY3JldC10b2tlbg"


def unpacked(encoding: str, body: bytes, most: int | None, size: int = 7) -> bytes:
    unpacking = Unpacking(encoding, most)
    return b"".join(part for at in range(0, len(body), size) for part in unpacking.take(body[at : at + size]))


@given(st.binary(max_size=3 * PIECE), st.integers(1, 2_000))
def test_a_body_comes_whole(body: bytes, size: int) -> None:
    for encoding, sent in (("", body), ("identity", body), ("GZIP ", gzip.compress(body))):
        assert unpacked(encoding, sent, len(body), size) == body
        if body:
            with pytest.raises(TooLarge, match="more than"):
                unpacked(encoding, sent, len(body) - 1, size)


def test_a_body_that_unfolds_takes_no_memory() -> None:
    packed = gzip.compress(bytes(1 << 27))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            unpacked("gzip", packed, 1 << 20, 1 << 18)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


def test_a_body_that_unfolds_to_nothing_has_an_end() -> None:
    """Blocks without content, one after the other: no byte of a body comes of them."""
    packed = zlib.compressobj(wbits=31)
    start = packed.compress(b"x") + packed.flush(zlib.Z_FULL_FLUSH)
    with pytest.raises(TooLarge):
        unpacked("gzip", start + b"\0\0\0\xff\xff" * PIECE, 1 << 17, 1 << 16)


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "x" * 9_999])
def test_other_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match="which nobody asked for") as raised:
        Unpacking(encoding, None)
    assert len(str(raised.value)) < 2 * LONGEST
    with pytest.raises(ValueError, match="cannot be unpacked"):
        unpacked("gzip", b"no gzip at all", None)


@pytest.mark.parametrize(
    "text",
    [
        f"you sent Authorization: Bearer {TOKEN}!", f"'{TOKEN}' is unknown", f"?token={TOKEN}&x=1",
        "?x=" + TOKEN.replace("~", "%7E"), base64.b64encode(TOKEN.encode()).decode(), f"the end of it: {TOKEN[:-3]}",
        f"{TOKEN}{TOKEN}", f"a\n{TOKEN}\x00", f"{{'token': '{TOKEN}'}}", "x" * (LONGEST - 5) + TOKEN,
    ],
)  # fmt: skip
def test_what_was_sent_is_not_repeated(text: str) -> None:
    found = said(text, [TOKEN])
    assert not any(part in found for part in (TOKEN[:12], TOKEN[-8:], base64.b64encode(TOKEN.encode()).decode()[:12]))
    assert found.isprintable()


@given(st.binary(max_size=40), st.binary(max_size=40), st.booleans())
def test_a_word_in_base64_that_holds_what_was_sent_is_not_repeated(before: bytes, after: bytes, in_url: bool) -> None:
    """As user and password are packed to sign in, whatever stands before and behind them."""
    packed = (base64.urlsafe_b64encode if in_url else base64.b64encode)(before + TOKEN.encode() + after).decode()
    assert said(f"sign-in: {packed}, no", [TOKEN]) == f"sign-in: {MASK}, no"
    assert said(f"x={packed.rstrip('=')}", [TOKEN]) == f"x={MASK}"


def test_a_word_without_end_is_read_once() -> None:
    assert said("a" * (1 << 22), [TOKEN, "secret-word"]).startswith("aaa")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"), ("basic%20QWxhZGRpbg==", f"basic {MASK}"),
        ("got eyJhbGciOi.eyJzdWIi.c2ln here", f"got {MASK} here"), ("https://me:pw@host/x", f"https://{MASK}@host/x"),
        ('{"password": "pw", "a": 1}', f'{{"password": "{MASK}", "a": 1}}'), ("api_key=k&b=1", f"api_key={MASK}&b=1"),
        ("a\n b\x1b[31m", "a b?[31m"), ("x" * 500, "x" * LONGEST + "..."), ("", ""),
        ("the secret is missing, as is the token", "the secret is missing, as is the token"),
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_masked(text: str, shown: str) -> None:
    assert said(text) == shown


@given(st.text(max_size=1_000), st.lists(st.text(max_size=40), max_size=3))
def test_any_text_is_one_bounded_line(text: str, secrets: list[str]) -> None:
    found = said(text, secrets)
    assert found.isprintable()
    assert len(found) <= LONGEST + 3


def test_an_error_without_words_has_its_name() -> None:
    assert outgoing.problem(TimeoutError()) == "TimeoutError"
    assert outgoing.problem(OSError(f"no {TOKEN}"), [TOKEN]) == f"no {MASK}"
