"""Reading an archive by its index: the answers are those of reading it whole, and less is read."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from structlog.testing import capture_logs

from phaseline.engine.log.when import Time
from phaseline.engine.replay.archive import check, open_archive, write_parts
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.last_states import LastStates
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.open_archive import Archive
from phaseline.engine.replay.archive.read_part import block_index
from phaseline.engine.replay.archive.write_parts import PartDraft
from phaseline.engine.replay.log_format import EventItem, Header, Item, RecordItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import BadArchive
from phaseline.schemas.records import Mark, Record, Transition
from phaseline.testing import given as given_state
from tests.support.archive_parts import EVENT

FIRST = given_state().when("node", "adopt", "c1/p/n1", {"phase": "Running"}).transitions[-1]
ENTITIES = [f"c{cluster}/p/n{node}" for cluster in range(3) for node in range(3)]
MARK = "transition.mark.-.-."


def body(entity_id: str, version: int, *, is_mark: bool) -> bytes:
    """A record of a node."""
    entity = structs.replace(FIRST.entity, id=entity_id, version=version)
    record: Record = Mark(entity, FIRST.cause, 0) if is_mark else structs.replace(FIRST, entity=entity)
    return wire_codec.write(record, 0, 1, "pl")


class Written:
    """A random archive: parts of some events each, records out of their order as several partitions leave them."""

    def __init__(self, folder: Path, seed: int, events: int, per_part: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.states, self.place, self.versions = LastStates[bytes](), 0, dict.fromkeys(ENTITIES, 0)
        self.parts: list[PartEntry] = []
        groups = [self.group(position) for position in range(1, events + 1)]
        self.shuffle(groups)
        for begin in range(0, events, per_part):
            self.write(begin + 1, groups[begin : begin + per_part])
        highest = max((part.highest for part in self.parts), default=0)
        found = Manifest.new("pl", 2).extended(self.parts, position=events, place=highest, time_ns=1_000 * highest)
        Folder(folder).write(found)

    def group(self, position: int) -> list[Item]:
        entity = self.chance.choice(ENTITIES)
        tokens = entity.replace("/", ".")
        items: list[Item] = [EventItem(position, 1_000 * position, f"{tokens}.node.ready", EVENT)]
        for _ in range(self.chance.randrange(3)):
            self.place += self.chance.randrange(1, 3)
            self.versions[entity] += 1
            subject = self.chance.choice(
                [
                    *[f"transition.node.phase.Running.{tokens}"] * 4,
                    f"rejection.node.guard.{tokens}",
                    f"{MARK}node.{tokens}",
                ]
            )
            record = body(entity, self.versions[entity], is_mark=subject.startswith(MARK))
            items.append(RecordItem(subject, record, self.place, 1_000 * self.place))
        return items

    def shuffle(self, groups: list[list[Item]]) -> None:
        """Let trees be decided ahead of others, so that places do not rise with positions; those of a tree do."""
        taken = sorted((item.place, item.time_ns) for group in groups for item in group if isinstance(item, RecordItem))
        order = sorted(
            range(len(groups)), key=lambda at: at + self.chance.random() * 9 * (self.tree(groups[at]) == "c1")
        )
        by_tree = {root: sorted(at for at in order if self.tree(groups[at]) == root) for root in ("c0", "c1", "c2")}
        places = iter(taken)
        for at in order:
            number = by_tree[self.tree(groups[at])].pop(0)
            for index, item in enumerate(groups[number]):
                if isinstance(item, RecordItem):
                    place, time_ns = next(places)
                    groups[number][index] = structs.replace(item, place=place, time_ns=time_ns)

    def tree(self, group: list[Item]) -> str:
        (event, *_) = group
        assert isinstance(event, EventItem)
        return event.address.partition(".")[0]

    def write(self, first: int, groups: list[list[Item]]) -> None:
        last = first + len(groups) - 1
        header = Header(prefix="pl", partitions=2, first=first, last=last, since=first, until=last, records=True)
        with LogWriter(self.folder / f"part-{len(self.parts) + 1:06}.plog.zst", header) as log:
            part = PartDraft(log.path.name, header, log)
            for about, value in self.states.items():
                part.put_state(about, value)
            part.cut()
            for group in groups:
                part.put(group)
                for item in group:
                    if isinstance(item, RecordItem):
                        self.states.take(item.subject, item.body)
            part.cut()
        self.parts.append(part.keep(Folder(self.folder)))


def opened(folder: Path) -> Archive:
    installation: Any = None  # only `follow` asks it
    store = Folder(folder)
    return Archive(store, installation, store.existing_manifest())


def questions(written: Written) -> Iterator[tuple[str, Any]]:
    """Everything that readers ask, with some arguments."""
    chance, highest = written.chance, max(part.highest for part in written.parts)
    for _ in range(2):
        place = chance.randrange(1, highest + 2)
        one, other = (entity.replace("/", ".") for entity in chance.sample(ENTITIES, 2))
        yield "moment", (place,)
        yield "moment", (Time(1_000 * place - chance.randrange(2), 1),)
        yield "transitions", ([("node", one)], place)
        yield "transitions", ([("node", one), ("node", other), ("node", "c9.p.n1")], place)
        yield "transitions", ([("*", "c1.>"), ("*", "c1")], place)
        yield "transitions", ([("node", ">")], place)
        start = chance.choice(["start", chance.randrange(highest + 2)])
        yield "messages", ([f"pl.log.*.transition.node.*.*.{one}", f"pl.log.*.rejection.node.*.{one}"], start, place)
        yield "messages", (["pl.log.*.*.*.>"], start, place)
        yield "events", ([chance.randrange(len(ENTITIES) * 9) for _ in range(3)],)
        yield "record", (place,)


async def answer(archive: Archive, name: str, arguments: Any) -> object:
    if name == "messages":
        return [stored async for some in archive.messages(*arguments) for stored in some]
    found = await getattr(archive, name)(*arguments)
    if name != "transitions":
        return found
    return sorted(found, key=lambda one: one.entity.id)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_parts, "BLOCK", 2_000)


@given(st.integers(0, 1 << 30), st.integers(1, 60), st.sampled_from([3, 8, 30, 100]), st.sampled_from([0, 4]))
@settings(deadline=None)
def test_answers_by_an_index_are_those_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, seed: int, events: int, per_part: int, kept: int
) -> None:
    """Also where the states at a place are too many to be kept for the next question."""
    folder = tmp_path_factory.mktemp("archive")
    written = Written(folder, seed, events, per_part)
    if not any(part.records for part in written.parts):
        return
    check.check(Folder(folder))
    asked = list(questions(written))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_archive, "KEPT", kept)
        by_index = [asyncio.run(answer(opened(folder), *one)) for one in asked]
        for index in folder.glob("*.index"):
            index.unlink()
        whole = [asyncio.run(answer(opened(folder), *one)) for one in asked]
    assert by_index == whole


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """An archive of two parts with many blocks."""
    return Written(tmp_path, seed=1, events=200, per_part=100)


def last_of(entity_id: str, folder: Path) -> Transition:
    archive = opened(folder)
    tokens = entity_id.replace("/", ".")
    (found,) = asyncio.run(archive.transitions([("node", tokens)], archive.manifest.reach))
    return found


def test_blocks_that_nobody_asks_for_are_not_read(written: Written, tmp_path: Path) -> None:
    """Damage where nobody looks disturbs nobody; where somebody looks it is noticed."""
    part = written.parts[-1]
    assert part.blocks > 10
    before = last_of(ENTITIES[0], tmp_path)
    path = tmp_path / part.name
    body = bytearray(path.read_bytes())
    middle = block_index(Folder(tmp_path), part).blocks[part.blocks // 2]
    body[middle.offset + middle.size // 2] ^= 1
    path.write_bytes(body)
    assert last_of(ENTITIES[0], tmp_path) == before
    with pytest.raises(
        BadArchive, match=f"{part.name}: its bytes are not those that were written, from byte {middle.offset:,} on"
    ):
        asyncio.run(opened(tmp_path).record(middle.lowest))
    with pytest.raises(BadArchive, match=part.name):
        check.check(Folder(tmp_path))


def test_a_lost_index_is_said_once_and_made_anew(written: Written, tmp_path: Path) -> None:
    (tmp_path / written.parts[0].index_name).unlink()
    index = tmp_path / written.parts[1].index_name
    kept = index.read_bytes()
    index.write_bytes(kept[:-1] + b"\0")
    archive = opened(tmp_path)
    with capture_logs() as logged:
        for place in (archive.manifest.reach, 5, archive.manifest.reach):
            asyncio.run(archive.transitions([("node", "c1.p.n1")], place))
    assert [one["event"] for one in logged] == ["archive_read_whole"]
    assert check.reindex(Folder(tmp_path)) == written.parts
    assert index.read_bytes() == kept
    assert check.reindex(Folder(tmp_path)) == []
    with capture_logs() as logged:
        last_of(ENTITIES[0], tmp_path)
    assert logged == []
    check.check(Folder(tmp_path))


def test_an_index_of_another_part_is_not_made(written: Written, tmp_path: Path) -> None:
    """A manifest that names an index that does not follow from its part is a wrong one."""
    store = Folder(tmp_path)
    found = store.existing_manifest()
    (tmp_path / found.parts[0].index_name).unlink()
    forged = structs.replace(found.parts[0], index_sha256="0" * 64)
    store.write(structs.replace(found, parts=[forged, *found.parts[1:]]))
    with pytest.raises(BadArchive, match="its index is not the one"):
        check.reindex(Folder(tmp_path))
