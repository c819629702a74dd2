"""What archives are made of, without a server: records with their places, last states, ranges, manifests."""

from pathlib import Path

import pytest

from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.log.when import Time
from phaseline.engine.replay import log_format
from phaseline.engine.replay.archive import check, manifest
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.last_states import LastStates, about_subject, is_of_raw_secret
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.open_archive import _selects
from phaseline.engine.replay.log_format import RecordItem
from phaseline.schemas import codec
from phaseline.schemas.errors import BadArchive


def test_a_record_keeps_its_place() -> None:
    body = codec.encode({"id": "7-0"})
    plain, placed = RecordItem("transition.a", body), RecordItem("transition.a", body, 12, 1_795_000_000_123_456_789)
    for item in (plain, placed):
        assert log_format.unpack(codec.decode_part(log_format.pack(item), 9)) == item
        assert log_format.from_line(log_format.to_line(item)) == item
    assert log_format.pack(plain) == codec.encode(("record", "transition.a", body))


def test_last_states() -> None:
    states = LastStates[int]()
    first, mark = "transition.node.phase.Creating.c1.p.n1", "transition.mark.-.-.node.c1.p.n1"
    later, other = "transition.node.phase.Running.c1.p.n1", "transition.node_pool.phase.Running.c1.p"
    assert [states.take(first, 1), states.take(other, 2), states.take(mark, 3)] == [[], [], []]
    assert states.take(mark, 4) == [3]
    assert list(states.values()) == [1, 4, 2]
    assert sorted(states.take(later, 5)) == [1, 4]
    assert states.take("rejection.node.guard.c1", 6) == [6]
    assert (sorted(states.values()), len(states)) == ([2, 5], 2)
    assert states.take(mark, 7) == []
    assert (about_subject(first), about_subject(mark)) == (("node.c1.p.n1", False), ("node.c1.p.n1", True))
    assert is_of_raw_secret("rejection.resource.secret.shop.x")
    assert not is_of_raw_secret("rejection.resource.guard.secret.x")
    assert not is_of_raw_secret("transition.resource.sync.secret.x")


def test_ranges() -> None:
    assert list(check.missing_ranges(1, 9, [2, 3, 7])) == [(1, 1), (4, 6), (8, 9)]
    assert list(check.missing_ranges(4, 6, [])) == [(4, 6)]
    assert list(check.missing_ranges(4, 6, [4, 5, 6])) == []
    assert check.joined([(1, 2), (3, 5), (8, 9), (10, 10)]) == [(1, 5), (8, 10)]


def test_filters() -> None:
    fits = _selects(["transition.node.*.*.c1.p.n1", "rejection.>"])
    assert fits("transition.node.phase.Running.c1.p.n1")
    assert fits("rejection.node.guard.c1")
    assert not fits("transition.node.phase.Running.c1.p.n11")
    assert not fits("transition.node.phase.Running.c1.p")


def part(number: int, first: int, last: int) -> PartEntry:
    return PartEntry(
        name=f"part-{number}", first=first, last=last, since=0, until=0, states=0, events=0, records=0, bytes=0,
        sha256="", lowest=0, highest=0, earliest=0, latest=0,
    )  # fmt: skip


def test_manifests(tmp_path: Path) -> None:
    made = Manifest.new("pl", 8).extended([part(1, 1, 5), part(2, 6, 9)], position=9, missing=[(3, 4)])
    assert manifest.decode(made.encode(), "x") == made
    with Folder(tmp_path).locked():
        Folder(tmp_path).write(made)
    assert Folder(tmp_path).manifest() == made
    for wrong in (
        b"", b"{}", b"[]", b'{"phaseline": "log"}', made.encode()[:-9],
        made.encode().replace(b'"format": 2', b'"format": 3'), made.encode().replace(b'"first": 6', b'"first": 7'),
        made.encode().replace(b'"position": 9', b'"position": 8'), made.encode().replace(b'"pl"', b"3"),
    ):  # fmt: skip
        with pytest.raises(BadArchive):
            manifest.decode(wrong, "x")


def test_what_a_note_covers() -> None:
    note = ArchiveNote(position=5, place=10, time_ns=1_000, archive="a")
    assert [note.covers(place) for place in (0, 1, 9, 10, 11)] == [False, True, True, False, False]
    assert [note.covers(Time(ns)) for ns in (0, 998, 999, 1_000)] == [True, True, True, False]
