"""Laws of loading a tree: records that are read together make the tree that each of them makes alone.

Belongs here: the laws, with records of random histories among bodies that hold none. Does not: examples of restored
trees (`tests/pure/test_tree.py`), loading from a server (`tests/nats/test_loading.py`).
"""

import re
from collections.abc import Callable

import pytest

from phaseline.engine.core.message import COPY
from phaseline.engine.core.tree import TallyKey, Tree, evolve, take_all_in
from phaseline.engine.log.log_records import entities_in_state, record_in
from phaseline.engine.nats.reader import Stored
from phaseline.engine.surfaces.testing.laws import same
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Rejection, entity_after
from phaseline.schemas.subjects import Subjects
from phaseline.schemas.templates import reading
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import History, histories, hold, law_by_law

TIME, JSON_TIME = re.compile(rb"(?<=since\xbe)[^Z]{29}Z"), re.compile(rb'(?<=since":")[^Z]{29}Z')
OTHER_TIMES = (
    b"2023-11-14T22:13:20.000000007Z", b"2023-11-14T22:13:60.000000007Z", b"2023-11-14T22:13:20.0000+00:00",
    b"2023-11-14T22:13:20.00000000_Z", b"2023-11-14T22:13:20.0\xff0000000Z", b"yesterday, or the day before..",
    b'2023-11-14T22:13:20Z","since":', b'2023-11-14T22:13:20.0000000\\"Z',
)  # fmt: skip
NO_RECORDS = (b"", b"\xc0", b"{", b"junk", b"\x81\xa2id\xa31-0")
BATCHES = (1, 2, 7, 1_000)


def bodies(history: History) -> list[bytes]:
    """The records of a history; some with other times, some in JSON, and bodies among them that are no records."""
    found: list[bytes] = []
    for position, step in enumerate(history.steps):
        for index, record in enumerate(step.records):
            written = wire_codec.write(record, index, len(step.records), "phaseline/pl")
            time = OTHER_TIMES[position % len(OTHER_TIMES)]
            found += [written, TIME.sub(lambda _, time=time: time, written)]  # type: ignore[misc]  # a default
            as_json = wire_codec.write(record, index, len(step.records), "phaseline/pl", as_json=True)
            found += [as_json, JSON_TIME.sub(lambda _, time=time: time, as_json)]  # type: ignore[misc]  # as above
            found += [as_json[:-1], as_json.replace(b'"}}', b'"} }'), as_json.replace(b'"since":"', b'"since": "')]
            found += [written[:-1], written.replace(b".transitioned", b".transitiones")]
        found.append(NO_RECORDS[position % len(NO_RECORDS)])
    return found


def alone(history: History) -> tuple[Tree, list[int]]:
    """The tree of whole records that are read one by one, and which bodies are refused. STATE holds no rejections."""
    tree, refused = Tree(history.kinds, NoScripts()), []
    for number, body in enumerate(bodies(history)):
        try:
            record = wire_codec.read(body)
            evolve(tree, record)
        except (ValueError, KeyError, TypeError, AttributeError):
            refused.append(number)
        else:
            refused += [number] if isinstance(record, Rejection) else []
    return tree, refused


def state_subject(body: bytes) -> str:
    """Where STATE has what a body is about; any place, if it is no record of an entity."""
    record = record_in(body)
    if record is None or isinstance(record, Rejection):
        return "pl.state.0.x.y"
    return Subjects("pl").state(0, record.entity.kind, record.entity.id)


def together(history: History, size: int) -> tuple[Tree, list[int]]:
    """The same, of records that are read `size` at a time, with a copy that the server sent before each batch."""
    tree, refused, held = Tree(history.kinds, NoScripts()), [], bodies(history)
    for start in range(0, len(held), size):
        some = held[start : start + size]
        copy = Stored("s", some[0], 0, 0, 0, COPY)
        messages = [copy, *(Stored(state_subject(body), body, 0, 0, 0, None) for body in some)]
        first, *found = entities_in_state("STATE", messages)
        assert first is None
        refused += [start + number for number, one in enumerate(found) if one is None]
        take_all_in(tree, [one for one in found if one is not None])
    return tree, refused


def batches_make_the_tree_that_single_records_make(history: History) -> None:
    tree, refused = alone(history)
    for size in BATCHES:
        loaded, missing = together(history, size)
        same("refused", missing, refused)
        same("entities", loaded.entities, tree.entities)
        same("tallies", without_empty(loaded.tallies), without_empty(tree.tallies))
        same("below", in_order(loaded.below), in_order(tree.below))
        assert loaded.watched == tree.watched


def what_is_read_in_part_is_what_the_whole_record_holds(history: History) -> None:
    written = [
        wire_codec.write(record, index, len(step.records), "phaseline/pl", as_json=as_json)
        for as_json in (False, True)
        for step in history.steps
        for index, record in enumerate(step.records)
    ]
    for body in written:
        same("record", reading.read(body), wire_codec.read(body))
    found = [entity_after(wire_codec.read(body)) for body in written]
    same("entities", reading.read_entities(written), found)


def without_empty(tallies: dict[TallyKey, dict[str, dict[str, int]]]) -> dict[object, object]:
    """The tallies that count something."""
    return {key: {of: tally for of, tally in found.items() if tally} for key, found in tallies.items()}


def in_order(below: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    """The ids below others, each list sorted."""
    return {kind: {parent: sorted(ids) for parent, ids in found.items()} for kind, found in below.items()}


@pytest.fixture(autouse=True)
def _few_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 3)


@law_by_law(batches_make_the_tree_that_single_records_make, what_is_read_in_part_is_what_the_whole_record_holds)
def test_law(law: Callable[[History], None], effort: str) -> None:
    hold(law, histories(BUILT_IN_KINDS), effort)
