"""A tree that is restored from the bytes of the log is the tree that the events made.

Belongs here: `restore`, and the indexes and tallies after it. Does not: reading a log from a server (`tests/nats`).
"""

from msgspec.structs import replace

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, restore, take_all_in
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import SetupError
from phaseline.schemas.records import EntityAfter, Transition
from phaseline.schemas.templates import reading
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.raising import raises
from tests.support.sample_kinds import KINDS
from tests.support.strategies import SUBJECTS, Sent, event

SENT = (
    event("orchard", "plant", "o"),
    event("row", "plant", "o/r"),
    event("row", "plant", "o/q"),
    event("ladder", "raised", "o/r/l"),
    event("fruit", "set", "o/r/s/a"),
    event("fruit", "rotted", "o/r/s/a"),
    event("fruit", "pick", "o/r/s/a"),  # rejected
)
REJECTED = 7


def written(*sent: Sent) -> tuple[Tree, list[tuple[int, bytes]]]:
    """The tree after these events, and the records that they left: each with the position of its event."""
    processor = Processor(Tree(KINDS, NoScripts()), SUBJECTS, 0)
    bodies = []
    for position, one in enumerate(sent, 1):
        batch = processor.process([StoredEvent(one.subject, one.body, position, position)], position - 1)
        bodies += [(position, message.body) for message in batch.messages]
    return processor.tree, bodies


def test_the_records_of_a_log_restore_entities_tallies_and_indexes() -> None:
    tree, bodies = written(*SENT)
    restored = Tree(KINDS, NoScripts())
    assert [restore(restored, body) for _, body in bodies] == [position for position, _ in bodies]
    assert (restored.entities, restored.tallies, restored.below) == (tree.entities, tree.tallies, tree.below)
    assert len(restored) == 5
    assert sorted(restored.descendants("orchard", "o", "row")) == ["o/q", "o/r"]
    assert list(restored.descendants("orchard", "o", "fruit")) == ["o/r/s/a"]


def test_records_restored_together_make_the_same_tree() -> None:
    """Also where several are of one entity, some of it new and some known: the last one counts."""
    tree, bodies = written(*SENT)
    read = reading.read_entities([body for _, body in bodies])
    for known in range(len(read)):
        restored = Tree(KINDS, NoScripts())
        take_all_in(restored, read[:known])
        assert take_all_in(restored, read[known:]) == REJECTED
        assert (restored.entities, restored.tallies, restored.below) == (tree.entities, tree.tallies, tree.below)


def test_the_end_of_a_facet_is_not_taken_for_its_time() -> None:
    """A facet that interrupted a phase ends in the name of that phase."""
    _, bodies = written(*SENT[:1])
    record = wire_codec.read(bodies[0][1])
    assert isinstance(record, Transition)
    entity = record.entity
    found = [
        EntityAfter(replace(entity, names=entity.names[:1], facets=(replace(entity.facets[0], interrupted=phase),)), 1)
        for phase in ("thirty-letters-and-a-name-here", "2023-11-14T22:13:20.000000001Z", "Short")
    ]
    held = [wire_codec.write(replace(record, entity=one.entity), 0, 1, "phaseline/pl") for one in found]
    assert reading.read_entities(held) == found
    assert reading.read_entities(held[::-1]) == found[::-1]


def test_a_record_of_a_kind_that_the_tree_lacks_is_refused_unless_it_is_a_rejection() -> None:
    _, bodies = written(*SENT)
    other = Tree(BUILT_IN_KINDS, NoScripts())
    with raises(SetupError.kind_missing) as missing:
        restore(other, bodies[0][1])
    assert missing.value.details == {"kind": "orchard", "known": ", ".join(BUILT_IN_KINDS)}
    assert restore(other, bodies[-1][1]) == REJECTED
    assert len(other) == 0
