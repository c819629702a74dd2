"""Files that are made to end the program: each gets an error, with little memory and in a short time."""

import asyncio
import gzip
import random
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard

from phaseline.schemas import codec
from phaseline.schemas.errors import BadLogFile, LogFileDamaged, PhaselineError
from phaseline.schemas.subjects import Subjects
from tests.support import hostile_logs
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.raising import raises
from tests.support.recorded_logs import (
    Clock,
    EventItem,
    FileLog,
    Header,
    ImportResult,
    LogFile,
    Player,
    Processors,
    WhatIf,
    audit_of,
    log_format,
    rebuild,
)

HEADER = Header(prefix="pl", partitions=1, first=1, last=9)
MEMORY = 700 << 20


def packed(path: Path, start: bytes, filler: bytes, times: int) -> Path:
    """A compressed file that unfolds to `start` and many times `filler`."""
    with path.open("wb") as file, zstandard.ZstdCompressor(level=1).stream_writer(file) as out:
        out.write(start)
        for _ in range(times):
            out.write(filler)
    return path


BLOCK = b"a" * (1 << 20)
BOMBS = [
    (log_format.to_line(HEADER), BLOCK, "a line has more than 16,777,216 bytes"),
    (log_format.to_line(HEADER) + b'{"event":[', b"[]," * 100_000, "a line has more than 16,777,216 bytes"),
    (log_format.pack(HEADER) + b"\xc6\x7f\xff\xff\xff", BLOCK, "a value of more than 16,777,216 bytes"),
    (log_format.pack(HEADER) + b"\xdd\x7f\xff\xff\xff", b"\xc0" * (1 << 20), "it cannot be read after byte 113"),
    (log_format.pack(HEADER) + b"\x91" * 5_000, BLOCK, "nested more than"),
]


@pytest.mark.parametrize("number", range(len(BOMBS)))
def test_a_small_file_that_unfolds_to_much(tmp_path: Path, number: int) -> None:
    """A file of some KB that unfolds to a gigabyte, read in little memory."""
    start, filler, says = BOMBS[number]
    path = packed(tmp_path / "bomb", start, filler, (1 << 30) // len(filler))
    assert path.stat().st_size < 200_000
    done = subprocess.run(
        [sys.executable, "-m", "phaseline.engine.surfaces.cli", "replay", "--file", str(path)], capture_output=True, text=True,
        check=False, timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("notes", "says"),
    [
        ({"0": [{"digest": "a", "tables": {}}]}, "missing required field `position`"),
        ({"0": [{"position": -1.5, "digest": "a", "tables": {}}]}, "Expected `int`"),
        ({"p": []}, "matching regex"),
    ],
)
def test_notes_about_tables_that_nobody_wrote(tmp_path: Path, notes: Any, says: str) -> None:
    header = {"phaseline": "log", "prefix": "pl", "partitions": 1, "eras": notes}
    (tmp_path / "log").write_bytes(codec.encode_json(header) + b"\n")
    with raises(BadLogFile.no_log_file, match=says):
        FileLog(tmp_path / "log")


@pytest.mark.parametrize("pack", [lambda data: zstandard.ZstdCompressor().compress(data), gzip.compress])
def test_a_file_that_unfolds_to_many_times_its_size(tmp_path: Path, pack: Any) -> None:
    event = log_format.pack(EventItem(1, 1, "c1.node.ready.p.n", b"\x80" * 500_000))
    path = tmp_path / "log"
    path.write_bytes(pack(log_format.pack(HEADER) + event * 20))
    with pytest.raises(LogFileDamaged, match=r"unfold to more than .*--max-unpacked"):
        list(LogFile(path, 1 << 20).items())
    with pytest.raises(LogFileDamaged, match="its end is missing: 20 events"):
        list(LogFile(path, 1 << 30).items())
    path.write_bytes(log_format.pack(HEADER) + event * 20)
    with pytest.raises(LogFileDamaged, match="its end is missing: 20 events"):
        list(LogFile(path).items())


class NoPipeline:
    """Sends nothing."""

    async def drain(self) -> None:
        pass


async def read_every_way(path: Path) -> None:
    """Rebuild, audit, what-if and import of a file; raises whatever is no error of ours."""

    async def imported() -> None:
        file = LogFile(path)
        clock = Clock(file.header, None, shift=True, now=hostile_logs.NOW)
        player = Player(Subjects("pl"), BUILT_IN_KINDS, file.header, clock, ImportResult())
        async for _ in player.messages(file, NoPipeline(), partial=True):  # type: ignore[arg-type]
            pass

    async def rebuilt() -> None:
        source = FileLog(path)
        await rebuild(source, Processors(BUILT_IN_KINDS, source), None, lambda _: None)

    async def audited() -> None:
        await audit_of(path, BUILT_IN_KINDS)

    async def compared() -> None:
        await WhatIf(FileLog(path), BUILT_IN_KINDS, BUILT_IN_KINDS, None, lambda _: None).run()

    for way in (imported, rebuilt, audited, compared):
        with suppress(PhaselineError):
            await way()


@pytest.mark.parametrize("files", [40, pytest.param(5_000, marks=pytest.mark.slow)])
def test_any_file_is_a_log_or_is_refused(tmp_path: Path, files: int) -> None:
    for seed in range(files):
        path = hostile_logs.write(tmp_path, random.Random(seed))
        asyncio.run(read_every_way(path))
        path.unlink()


def test_a_body_in_a_line_is_bound() -> None:
    with pytest.raises(log_format.Malformed, match="nested more than"):
        log_format.from_line(b'{"expected":' + b'{"a":' * 200 + b"1" + b"}" * 201)
    assert codec.decode(b"{}") == {}


def test_a_text_of_many_levels_does_not_end_the_interpreter() -> None:
    """In its own process, because the fault was a crash."""
    code = (
        "from phaseline.schemas import yaml_text\n"
        "texts = ['[' * 50_000, '[' * 50_000 + ']' * 50_000, '- ' * 50_000, '{a: ' * 50_000, '? ' * 50_000]\n"
        "for text in [*texts, *('a: 1\\n---\\n' + text for text in texts)]:\n"
        "    try:\n"
        "        list(yaml_text.documents(text))\n"
        "    except yaml_text.NotYaml as error:\n"
        "        line = 1 + text.count('\\n')\n"
        "        assert str(error).startswith(f'line {line}, column '), error\n"
        "        assert str(error).endswith('maps and lists are nested more than 100 levels deep'), error\n"
        "    else:\n"
        "        raise AssertionError(text[:80])\n"
        "print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr
