"""What counts in one log only: laws over reporters that have read another log, and over logs that were put back.

Belongs here: histories that are told with and without the identity of a log, and what a restored tree knows. Does not:
the notes in a log of a server (`tests/nats/test_log_identity`).
"""

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, take_all_in
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.records import Entity, Mark, Record, Rejection, entity_after
from phaseline.schemas.subjects import Subjects
from tests.support.edge_worlds import KINDS

SUBJECTS = Subjects("pl")
LOG, OTHER = 1_795_745_633_155_579, 1_795_745_000_000_001
SECOND = 1_000_000_000
WAYS = ("create", "delete", "created", "deleted", "not_ready", "ready", "adopt", "reported", "gone", "snapshot")
PLACES = (("node", "c/p/a"), ("node", "c/p/b"), ("node_pool", "c/p"), ("cluster", "c"))


class Step(NamedTuple):
    """One event. back: how many events ago its reporter read the log. answers: how far back the answered request is."""

    place: tuple[str, str]
    way: str
    back: int | None
    answers: int | None


STEPS = st.lists(
    st.builds(
        Step, st.sampled_from(PLACES), st.sampled_from(WAYS), st.one_of(st.none(), st.integers(0, 12)),
        st.one_of(st.none(), st.integers(0, 6)),
    ),
    min_size=5, max_size=40,
)  # fmt: skip
Key = tuple[str, str]


def data_of(step: Step, number: int, named: int | None) -> dict[str, Any]:
    """The data of an event; named: the log in which it says that its positions count, 0 for none and no positions."""
    data: dict[str, Any] = {} if not named else {"log": named}
    if step.way in ("reported", "adopt"):
        data["phase"] = "Running"
    elif step.way == "gone":
        data["phase"] = "Deleted"
    elif step.way == "snapshot":
        data |= {"kind": "node", "items": [{"id": "a", "phase": "Running"}]}
    if named != 0:
        if step.back is not None and step.way in ("deleted", "reported", "gone", "snapshot"):
            data["seen"] = max(0, number - 1 - step.back)
        if step.answers is not None and step.way in ("created", "deleted", "reported", "gone"):
            data["answers"] = max(0, number - 1 - step.answers)
    return data


def event(step: Step, number: int, named: int | None) -> StoredEvent:
    kind, entity_id = ("node_pool", "c/p") if step.way == "snapshot" else step.place
    trigger = "reported" if step.way == "gone" else step.way
    subject = SUBJECTS.event(kind, trigger, entity_id).replace(".events.", ".inbox.0.")
    data = data_of(step, number, named)
    body = {"specversion": "1.0", "id": f"e{number}", "source": "/t", "type": f"{kind}.{trigger}", "data": data}
    return StoredEvent(subject, codec.encode(body), number, number * SECOND)


def processor(backup: int = 0) -> Processor:
    tree = Tree(KINDS, NoScripts())
    tree.log, tree.backup = LOG, backup
    return Processor(tree, SUBJECTS, 0)


def decided(by: Processor, steps: list[Step], named: int | None, first: int = 1) -> list[list[Record]]:
    found = []
    for number, step in enumerate(steps, first):
        sent = event(step, number, named)
        found.append(list(by.answer(sent).records))
        by.process([sent], number - 1)
    return found


def without_body(records: list[list[Record]]) -> list[list[object]]:
    """The records, of rejections what was decided: their words may name what an event said."""
    return [
        [(one.id, one.reason, one.trigger) if isinstance(one, Rejection) else one for one in some] for some in records
    ]


def known(tree: Tree) -> dict[Key, Entity]:
    return {(kind, one): entity for kind, found in tree.entities.items() for one, entity in found.items()}


@given(STEPS)
def test_positions_of_another_log_count_as_left_out(steps: list[Step]) -> None:
    told, bare = decided(processor(), steps, OTHER), decided(processor(), steps, 0)
    assert without_body(told) == without_body(bare)


@given(STEPS)
def test_positions_of_this_log_count_as_they_do_without_its_name(steps: list[Step]) -> None:
    told, bare = decided(processor(), steps, LOG), decided(processor(), steps, None)
    assert without_body(told) == without_body(bare)


@given(STEPS, STEPS)
def test_what_is_unheard_follows_from_the_records_alone(before: list[Step], after: list[Step]) -> None:
    first = processor()
    records = [one for some in decided(first, before, None) for one in some]
    restored = processor(len(before))
    take_all_in(restored.tree, [entity_after(one) for one in records])
    assert restored.tree.unheard == known(restored.tree).keys()
    later = [one for some in decided(restored, after, None, len(before) + 1) for one in some]
    loaded = processor(len(before))
    take_all_in(loaded.tree, [entity_after(one) for one in (*records, *later)])
    assert loaded.tree.unheard == restored.tree.unheard
    assert known(loaded.tree) == known(restored.tree)


@given(STEPS, STEPS)
def test_what_is_heard_again_is_marked_once_and_is_what_it_would_be(before: list[Step], after: list[Step]) -> None:
    plain, restored = processor(), processor(len(before))
    records = [entity_after(one) for some in decided(plain, before, None) for one in some]
    take_all_in(restored.tree, records)
    first = len(before) + 1
    would, did = decided(plain, after, None, first), decided(restored, after, None, first)
    marked = list[Key]()
    for some, others in zip(would, did, strict=True):
        assert others[: len(some)] == some
        for extra in others[len(some) :]:
            assert isinstance(extra, Mark)
            marked.append((extra.entity.kind, extra.entity.id))
    assert len(marked) == len(set(marked))
    assert known(plain.tree) == known(restored.tree)
