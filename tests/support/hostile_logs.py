"""Log files from a seed: good ones, and ones with bytes or values changed.

Belongs here: writing them. Does not: reading them.
"""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay import log_format
from phaseline.engine.replay.log_format import EventItem, Header, Item, RecordItem, StateItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.scripts.runner import shared_runner
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND
from tests.support import hostile
from tests.support.built_in_kinds import BUILT_IN_KINDS

NAMES = ("log.plog", "log.plog.zst", "log.plog.gz", "log.jsonl", "log.jsonl.zst", "log.jsonl.gz")
NOW = datetime(2026, 3, 2, tzinfo=UTC)
BEGIN = 1_700_000_000 * SECOND


def items(chance: random.Random, count: int = 12) -> list[Item]:
    """The events of a short history, each with its records. Before them, the states of another tree."""
    found: list[Item] = []
    states: list[Item] = []
    processor = Processor(Tree(BUILT_IN_KINDS, shared_runner()), hostile.SUBJECTS, 0)
    for number in range(1, count + 1):
        tail, body = hostile.event(BUILT_IN_KINDS, chance)
        batch = processor.process([StoredEvent(f"pl.inbox.0.{tail}", body, number, BEGIN + number)], 0)
        records = [message for message in batch.messages if message.subject.startswith(("pl.log.0.", "pl.mark.0."))]
        found.append(EventItem(number, BEGIN + number, tail, body))
        found += [RecordItem(message.subject.split(".", 3)[3], message.body) for message in records]
        states += [StateItem(message.body) for message in records if ".transition." in message.subject]
    return [*(states if chance.random() < 0.3 else []), *found]


def write(folder: Path, chance: random.Random) -> Path:
    """A file that is damaged in one of several ways."""
    path = folder / chance.choice(NAMES)
    header = Header(prefix="pl", partitions=1, first=1, last=12, since=BEGIN, until=BEGIN + 12, records=True)
    parts = items(chance)
    how = chance.randrange(5)
    with LogWriter(path, header) as log:
        for part in parts:
            log.write(_odd(part, chance) if how == 1 and chance.random() < 0.2 else part)
    data = bytearray(path.read_bytes())
    if how == 2:
        del data[chance.randrange(len(data)) :]
    elif how == 3:
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif how == 4:
        data = bytearray(_odd_lines(parts, header, chance))
    path.write_bytes(data)
    return path


def _odd(part: Item, chance: random.Random) -> Item:
    """An item whose body is another map, or no map at all."""
    body = part.data if isinstance(part, EventItem) else part.body
    try:
        changed = codec.encode(hostile.mutated(codec.decode(body), chance, 0.1))
    except (codec.Undecodable, ValueError, OverflowError):
        changed = b"\xc1"
    return replace(part, data=changed) if isinstance(part, EventItem) else replace(part, body=changed)


def _odd_lines(parts: list[Item], header: Header, chance: random.Random) -> bytes:
    """Parts of the right names, whose values have any type; mostly without an end."""
    made: list[bytes] = []
    for index, part in enumerate((header, *parts)):
        line: Any = msgspec.json.decode(log_format.to_line(part))
        odd = hostile.mutated(line, chance, 0.05) if chance.random() < 0.4 and index else line
        if index == 0 and chance.random() < 0.5:
            odd = {
                **line,
                **{name: hostile.value(chance) for name in line if name != "phaseline" and chance.random() < 0.2},
            }
        made.append(codec.encode_json(odd))
    return b"\n".join(made) + b"\n"
