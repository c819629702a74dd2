"""Logs as files: what is written is read, in both notations, compressed or not; no damage goes unnoticed."""

import gzip
import json
import os
import resource
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phaseline.engine.core import process
from phaseline.engine.replay import log_format
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import EventItem, ExpectedItem, Header, Item, Malformed, RecordItem, StateItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.schemas import codec
from phaseline.schemas.errors import BadLogFile, LogFileDamaged
from tests.support.effort import examples
from tests.support.raising import raises

NAMES = ("log.plog", "log.plog.zst", "log.plog.gz", "log.jsonl", "log.jsonl.zst", "log.jsonl.gz")
HEADER = Header(prefix="pl", partitions=8, first=3, last=7, since=10, until=20, records=True)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.floats(allow_nan=False) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
bodies = (
    st.binary(max_size=50)
    | st.dictionaries(st.text(max_size=5), values, max_size=4).map(codec.encode)
    | st.dictionaries(st.text(max_size=5), st.integers(0, 9), max_size=4).map(
        lambda v: json.dumps(v, indent=1).encode()
    )
)
words = st.text(min_size=1, max_size=20)
items: st.SearchStrategy[Item] = st.one_of(
    st.builds(StateItem, bodies),
    st.builds(EventItem, st.integers(1, 2**60), st.integers(0, 2**62), words, bodies),
    st.builds(RecordItem, words, bodies),
    st.builds(ExpectedItem, bodies),
)


def written(path: Path, parts: list[Item]) -> Path:
    with LogWriter(path, HEADER) as log:
        for part in parts:
            log.write(part)
    return path


def some(count: int) -> list[Item]:
    body = codec.encode({"specversion": "1.0", "id": "x", "source": "/me", "type": "cluster.create"})
    found: list[Item] = [StateItem(body)]
    for number in range(count):
        found += [EventItem(number + 3, number, "c1.cluster.create", body), RecordItem("transition.x.y.Z.c1", body)]
    return found


@given(st.lists(items, max_size=8), st.sampled_from(NAMES))
@settings(examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(tmp_path: Path, parts: list[Item], name: str) -> None:
    file = LogFile(written(tmp_path / name, parts))
    assert file.header == HEADER
    assert list(file.items()) == parts


def test_names_choose_the_form(tmp_path: Path) -> None:
    raw = {name: written(tmp_path / name, some(3)).read_bytes() for name in NAMES}
    lines = raw["log.jsonl"].splitlines()
    assert json.loads(lines[0])["phaseline"] == "log"
    assert json.loads(lines[2])["event"]["type"] == "cluster.create"
    assert json.loads(lines[-1])["end"]["events"] == 3
    assert codec.decode(next(iter([raw["log.plog"]]))[: len(log_format.pack(HEADER))])["phaseline"] == "log"
    for form in ("plog", "jsonl"):
        assert gzip.decompress(raw[f"log.{form}.gz"]) == raw[f"log.{form}"]
        assert zstandard.ZstdDecompressor().decompressobj().decompress(raw[f"log.{form}.zst"]) == raw[f"log.{form}"]


@pytest.mark.parametrize("name", NAMES)
def test_cut_off_anywhere(tmp_path: Path, name: str) -> None:
    whole = written(tmp_path / name, some(6)).read_bytes()
    everything = list(LogFile(tmp_path / name).items())
    cut = tmp_path / "cut"
    for length in range(0, len(whole) - 1, 7):
        cut.write_bytes(whole[:length])
        try:
            file = LogFile(cut)
        except BadLogFile:
            continue
        found: list[Item] = []
        with pytest.raises(LogFileDamaged) as told:
            found.extend(file.items())
        assert found == everything[: len(found)]
        assert "could be read" in str(told.value)


@pytest.mark.parametrize("name", ["log.plog", "log.jsonl", "log.plog.zst"])
def test_altered_anywhere(tmp_path: Path, name: str) -> None:
    whole = written(tmp_path / name, some(4)).read_bytes()
    everything, header = list(LogFile(tmp_path / name).items()), LogFile(tmp_path / name).header
    other, unnoticed = tmp_path / "altered", 0
    for place in range(len(whole)):
        altered = bytearray(whole)
        altered[place] ^= 1
        other.write_bytes(altered)
        try:
            file = LogFile(other)
            found = list(file.items())
        except BadLogFile:
            continue
        unnoticed += 1
        assert (file.header, found) == (header, everything)
    # Some bits of a compressed frame's own header say nothing about the content.
    assert unnoticed <= (3 if name.endswith("zst") else 0)


def test_how_much_could_be_read_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", some(6))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]))
    with pytest.raises(LogFileDamaged, match="1 state, 2 events, 1 record, up to event 4 could be read"):
        list(LogFile(path).items())
    path.write_bytes(b"".join([*lines[:2], b"nonsense\n", *lines[2:]]))
    with pytest.raises(LogFileDamaged, match="1 state could be read"):
        list(LogFile(path).items())
    path.write_bytes(b"".join([*lines[:3], *lines[5:]]))
    with pytest.raises(LogFileDamaged, match="events should be 6, but is 5"):
        list(LogFile(path).items())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it does not begin with a header"),
        (b"hello", "not an item of a log"),
        (b"{}\n", "not an item"),
        (b'{"phaseline":"log"}\n', "header: Object missing required field `prefix`"),
        (b'{"phaseline":"log","prefix":"pl","partitions":8,"format":2}\n', "newer than this Phaseline can read"),
        (b'{"specversion":"1.0","id":"1"}\n', "these are plain events, send them with `phaseline publish --file`"),
        (b"\xc1\xc1", "msgpack"),
    ],
)
def test_what_is_no_log(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with raises(BadLogFile.no_log_file, match=said):
        LogFile(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadLogFile, match="No such file"):
        LogFile(tmp_path / "none")
    with pytest.raises(BadLogFile, match="No such file"), LogWriter(tmp_path / "no" / "x", HEADER):
        pass


def test_an_export_that_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    def fail() -> None:
        with LogWriter(tmp_path / "log.plog", HEADER) as log:
            log.write(StateItem(b"x"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_takes_no_more_leaves_no_file(tmp_path: Path, name: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with pytest.raises(OSError, match=f"File too large: '.*{name}'"), LogWriter(tmp_path / name, HEADER) as log:
            log.write_all([StateItem(os.urandom(1 << 16)) for _ in range(16)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [["what", 1], ["event", 1], [], 7, ["end", {"events": "x"}]])
def test_items_that_are_none(value: object) -> None:
    with pytest.raises(Malformed, match="not an item"):
        log_format.unpack(value)


def test_a_replay_takes_no_records_of_events_but_of_those_that_were_parked(tmp_path: Path) -> None:
    body, parked = codec.encode({}), codec.encode({"message": f"3 {process.PARKED}"})
    first, second = (EventItem(number, number, "c1.cluster.create", body) for number in (3, 4))
    made, fault = RecordItem("transition.cluster.phase.Creating.c1", body), RecordItem("rejection.x.fault.c1", parked)
    path = written(tmp_path / "log.plog", [first, made, second, fault])
    steps = [step for slice_ in FileLog(path, with_records=False).read_steps() for step in slice_]
    whole = [step for slice_ in FileLog(path).read_steps() for step in slice_]
    assert [len(step.messages) for step in steps] == [0, 1]
    assert [len(step.messages) for step in whole] == [1, 1]
    assert [step.is_parked for step in steps] == [step.is_parked for step in whole] == [False, True]
    assert [step.event for step in steps] == [step.event for step in whole]
