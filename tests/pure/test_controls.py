"""What others wrote never steers the terminal of who reads it: data, errors, log lines and JSON."""

import json
import logging
import unicodedata

import click
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine import logs
from phaseline.engine.surfaces.cli import failures, render, terminal
from phaseline.engine.surfaces.cli.controls import plain, plain_json
from phaseline.schemas import codec
from phaseline.schemas.errors import BadLogFile

EVIL = "a\x1b[2J\x85\x9b31m\u202egnp.exe\u2066\u200f\u061c\u2028\x7f\x00z"
SPOKEN = r"a\x1b[2J\x85\x9b31m\u202egnp.exe\u2066\u200f\u061c\u2028\x7f\x00z"
STEERING = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F))}
STEERING |= {chr(code) for code in range(0x2066, 0x206A)} - {"\n"}


def is_calm(text: str) -> bool:
    return not (STEERING - {"\n"}) & set(text)


def test_every_control_and_every_direction_is_made_visible() -> None:
    assert plain(EVIL) == SPOKEN
    for code in range(0x11000):
        if unicodedata.bidirectional(chr(code)) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"):
            assert plain(chr(code)) != chr(code)
        if unicodedata.category(chr(code)) in ("Cc", "Cs", "Zl", "Zp"):
            assert plain(chr(code)).isascii()
    assert plain("故障 Störung ❄ \u05d0") == "故障 Störung ❄ \u05d0"


@given(st.text())
def test_json_means_the_same(text: str) -> None:
    written = plain_json(codec.encode_json({"a": text}).decode())
    assert json.loads(written) == {"a": text}
    assert is_calm(written)


def test_json_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    render.show_json({"message": EVIL, EVIL: 1})
    said = capsys.readouterr().out
    assert is_calm(said)
    assert json.loads(said) == {"message": EVIL, EVIL: 1}
    assert r"\u009b31m\u202egnp" in said


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(
    "error", [BadLogFile.no_log_file(name="x", problem=EVIL + "\nerror: forged"), ValueError(EVIL)]
)
def test_errors(capsys: pytest.CaptureFixture[str], error: Exception, verbose: bool) -> None:
    try:
        raise error from OSError(EVIL)  # noqa: TRY301  # it must have been raised
    except Exception as raised:  # noqa: BLE001  # any error
        failures.say_error(raised, verbose=verbose)
    said = capsys.readouterr().err
    assert is_calm(said)
    assert SPOKEN in said
    assert verbose or "\nerror: forged" not in said


@pytest.mark.parametrize("as_json", [False, True])
def test_log_lines(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    assert not structlog.is_configured()  # whichever test of this process ran before
    terminal.log_to_stderr(least=logging.INFO, lines_of_json=as_json)
    log = logs.get_logger(__name__)
    log.error("partition_failed", error=EVIL, words=[EVIL], position=7)
    try:
        raise ValueError(EVIL)  # noqa: TRY301  # it must have been raised
    except ValueError:
        log.exception("partition_broken", error="x")
    said = capsys.readouterr().err
    assert is_calm(said)
    assert "gnp.exe" in said
    assert "position" in said
    assert len(said.splitlines()) < 25


def test_lines() -> None:
    assert is_calm(render.text_of(EVIL).plain)


def test_the_mark_of_an_error_may_have_a_colour(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say(EVIL, click.style("error: ", fg="red"))
    assert capsys.readouterr().err == f"{click.style('error: ', fg='red')}{SPOKEN}\n"
