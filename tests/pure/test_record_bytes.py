"""The bytes of all records of a seeded history of every kind are those that were written down.

Whoever makes deciding or writing faster sees here whether a byte became another one. `test_upcasting` holds whole
records of a few kinds; here are digests, in `tests/golden/record_bytes.json`, by kind.
After an intended change, such as one of a table, `PHASELINE_GOLDEN=write pytest tests/pure/test_record_bytes.py` writes
the digests again. Products that the change does not concern keep theirs.
"""

import hashlib
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH, random_history
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS, KINDS_OF_PRODUCT, family

GOLDEN = Path(__file__).parents[1] / "golden" / "record_bytes.json"
HISTORIES, EVENTS = 12, 60
LEAST = 20
"""The fewest records of a kind that say something about it."""
START, STEP = 1_772_438_400_000_000_000, 1_234_567_891


def events(product: str, seed: int) -> list[StoredEvent]:
    dice = random.Random(seed)
    history = random_history(family(product), [dice.randbytes(SEED_LENGTH) for _ in range(EVENTS)])
    return [
        StoredEvent(step.sent.subject, step.sent.body, number, START + number * STEP)
        for number, step in enumerate(history.steps, 1)
    ]


def messages(product: str, found: list[StoredEvent], *, as_json: bool) -> Iterator[Message]:
    processor = Processor(Tree(family(product), NoScripts()), Subjects("pl"), 0, as_json=as_json)
    while found:
        batch = processor.process(found, 0)
        found = found[batch.events :]
        yield from batch.messages


def kind_of(message: Message) -> str:
    """The kind of the entity that a message is about."""
    data = codec.decode(message.body)["data"] if message.body else {}
    return str(data["kind"]) if "kind" in data else "without a kind"


def digests(product: str) -> dict[str, list[object]]:
    """By kind, the number of messages and the digest of their subjects, headers and bodies, in msgpack and in JSON."""
    counts, found = Counter[str](), defaultdict[str, Any](hashlib.sha256)
    for seed in range(HISTORIES):
        history = events(product, seed)
        for as_json in (False, True):
            for message in messages(product, history, as_json=as_json):
                kind = kind_of(message)
                counts[kind] += 1
                found[kind].update(repr(message).encode())
    return {kind: [counts[kind], found[kind].hexdigest()[:16]] for kind in sorted(found)}


def test_the_same_events_make_the_same_bytes() -> None:
    found = {product: digests(product) for product in KINDS_OF_PRODUCT}
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(GOLDEN.read_text())


def test_each_kind_has_records_in_it() -> None:
    held = json.loads(GOLDEN.read_text())
    counts = {kind: count for kinds in held.values() for kind, (count, _) in kinds.items()}
    assert {kind for kind in BUILT_IN_KINDS if counts.get(kind, 0) < LEAST} == set()
