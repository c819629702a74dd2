"""Which thing is meant: laws over names that are used again, told by several sources, late, doubled and out of order.

Belongs here: a world in which things come and go under few names, what sources tell of it, and what no message may do.
Does not: single events (`tests/pure/test_lives`), how lives end (`test_gone_laws`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.lives.memory import MOST_FORMER, MOST_SCHEMES
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas import codec
from phaseline.schemas.records import Entity, Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects
from tests.support.edge_worlds import KINDS

SUBJECTS = Subjects("pl")
PLACES = (("node", "c/p/a"), ("node", "c/p/b"), ("node_pool", "c/p"), ("cluster", "c"))
WAYS = (
    "create", "delete", "created", "deleted", "deleted", "not_ready", "adopt", "reported", "reported", "gone", "gone",
    "snapshot", "empty", "heartbeat",
)  # fmt: skip
SECOND = 1_000_000_000


class Step(NamedTuple):
    """One event. thing: which thing it is about, None if it does not say; a thing has an identity of each scheme.

    back: how many events ago the reporter read the log last; None if it does not say. version: for which one a request
    is meant.
    """

    place: tuple[str, str]
    way: str
    thing: int | None
    scheme: str
    back: int | None
    phase: str
    version: int | None


STEP = st.builds(
    Step,
    st.sampled_from(PLACES),
    st.sampled_from(WAYS),
    st.one_of(st.none(), st.integers(0, 3)),
    st.sampled_from(("k8s", "k8s", "k8s", "aws")),
    st.one_of(st.none(), st.integers(0, 12)),
    st.sampled_from(("Running", "Running", "Stopped", "Creating")),
    st.one_of(st.none(), st.none(), st.integers(0, 6)),
)
HISTORY = st.lists(STEP, min_size=5, max_size=40)


class Said(NamedTuple):
    """What an event said, the entities before and after it, and its records."""

    step: Step
    uid: str | None
    seen: int | None
    before: dict[tuple[str, str], Entity]
    after: dict[tuple[str, str], Entity]
    records: list[Record]
    number: int


def event(step: Step, number: int) -> StoredEvent:
    kind, entity_id = step.place
    data: dict[str, object] = {}
    if step.back is not None and step.way in ("deleted", "reported", "gone", "snapshot", "empty"):
        data["seen"] = max(0, number - 1 - step.back)
    uid = None if step.thing is None else f"{step.scheme}:{step.thing}"
    trigger = {"gone": "reported", "empty": "snapshot"}.get(step.way, step.way)
    if step.way in ("snapshot", "empty"):
        kind, entity_id = "node_pool", "c/p"
        item = {"id": step.place[1][-1], "phase": step.phase, **({"uid": uid} if uid else {})}
        data |= {"kind": "node", "items": [item] if step.way == "snapshot" else []}
    elif step.way in ("create", "delete"):
        data |= {} if step.version is None else {"if_version": step.version}
    else:
        data |= {"uid": uid} if uid else {}
    if step.way in ("adopt", "reported"):
        data["phase"] = step.phase
    if step.way == "gone":
        data["phase"] = DELETED
    subject = SUBJECTS.event(kind, trigger, entity_id).replace(".events.", ".inbox.0.")
    body = {"specversion": "1.0", "id": f"e{number}", "source": "/t", "type": f"{kind}.{trigger}", "data": data}
    return StoredEvent(subject, codec.encode(body), number, number * SECOND)


def entities(tree: Tree) -> dict[tuple[str, str], Entity]:
    return {(kind, one): entity for kind, found in tree.entities.items() for one, entity in found.items()}


def told(steps: list[Step]) -> Iterator[Said]:
    processor = Processor(Tree(KINDS, NoScripts()), SUBJECTS, 0)
    for number, step in enumerate(steps, 1):
        sent, before = event(step, number), entities(processor.tree)
        records = processor.answer(sent).records
        processor.process([sent], number - 1)
        data = codec.decode(sent.data)["data"]
        uid = None if step.thing is None or step.way in ("create", "delete", "empty") else f"{step.scheme}:{step.thing}"
        yield Said(step, uid, data.get("seen"), before, entities(processor.tree), records, number)


def lives(entity: Entity | None) -> bool:
    return entity is not None and entity.facets[0].base.phase not in (ABSENT, DELETED)


def own(entity: Entity) -> tuple[str, ...]:
    return () if entity.memory is None else entity.memory.identities


def former(entity: Entity) -> tuple[str, ...]:
    return () if entity.memory is None else entity.memory.former


def is_about_an_earlier_life(said: Said, entity: Entity) -> bool:
    """Whether `uid` or `seen` proves that what an event says of an entity is not about its present life."""
    if said.seen is not None and said.seen < entity.born:
        return True
    if said.uid is None or (entity.kind, entity.id) != said.step.place or said.uid in own(entity):
        return False
    schemes = {one.partition(":")[0] for one in own(entity)}
    return said.uid in former(entity) or said.uid.partition(":")[0] in schemes


@given(HISTORY)
def test_no_life_ends_by_a_message_that_is_proven_to_be_about_an_earlier_one(steps: list[Step]) -> None:
    for said in told(steps):
        if said.step.way in ("create", "delete"):
            continue
        for key, entity in said.before.items():
            named = said.step.place == key or (said.step.way in ("snapshot", "empty") and key[0] == "node")
            if named and lives(entity) and not lives(said.after[key]):
                ended_above = any(
                    isinstance(one, Transition)
                    and (one.entity.kind, one.entity.id) == key
                    and one.trigger == "owner_gone"
                    for one in said.records
                )
                assert ended_above or not is_about_an_earlier_life(said, entity), (said.step, entity)


@given(HISTORY)
def test_what_is_proven_to_be_about_an_earlier_life_changes_nothing(steps: list[Step]) -> None:
    for said in told(steps):
        key = said.step.place
        entity = said.before.get(key)
        if entity is None or said.uid is None or said.step.way == "snapshot" or said.uid not in former(entity):
            continue
        assert [one.reason for one in said.records if isinstance(one, Rejection)] == ["stale"]
        assert said.before == said.after


@given(HISTORY)
def test_each_life_has_its_own_identities_and_remembers_those_before(steps: list[Step]) -> None:
    for said in told(steps):
        for key, after in said.after.items():
            before = said.before.get(key)
            assert len(own(after)) <= MOST_SCHEMES
            assert len(former(after)) <= MOST_FORMER
            assert not set(own(after)) & set(former(after))
            if before is None:
                continue
            assert set(former(before)) - set(own(after)) <= set(former(after)) or len(former(after)) == MOST_FORMER
            replaced = [
                one
                for one in said.records
                if isinstance(one, Transition) and (one.entity.kind, one.entity.id) == key and one.noted.replaced
            ]
            if lives(before) and lives(after) and not replaced:
                assert set(own(before)) <= set(own(after))
                assert before.born == after.born or (before.memory is not None and before.memory.awaited)
            for one in replaced:
                assert one.unasked
                assert one.noted.replaced in own(before)
                assert set(own(before)) <= set(former(after))
                assert after.born == said.number


@given(HISTORY)
def test_a_life_is_born_no_later_than_now_and_keeps_its_birth(steps: list[Step]) -> None:
    for said in told(steps):
        for key, after in said.after.items():
            assert 0 <= after.born <= said.number
            if lives(after):
                assert after.born > 0
                if not lives(said.before.get(key)):
                    assert after.born == said.number


@given(HISTORY)
def test_a_request_for_a_version_is_taken_by_that_version_only(steps: list[Step]) -> None:
    for said in told(steps):
        if said.step.way not in ("create", "delete") or said.step.version is None:
            continue
        entity = said.before.get(said.step.place)
        versions = {entity.version} if entity is not None and lives(entity) else {0, entity.version if entity else 0}
        changed = any(isinstance(one, Rejection) and one.reason == "changed" for one in said.records)
        assert changed == (said.step.version not in versions)


@given(HISTORY, st.booleans())
def test_whoever_goes_on_from_the_log_decides_the_same(steps: list[Step], as_json: bool) -> None:
    """After each event, a tree that was made of the records alone decides the next one as the first tree does."""
    processor = Processor(Tree(KINDS, NoScripts()), SUBJECTS, 0, as_json=as_json)
    restored = Tree(KINDS, NoScripts())
    for number, step in enumerate(steps, 1):
        sent = event(step, number)
        assert Processor(restored, SUBJECTS, 0).answer(sent).records == processor.answer(sent).records
        for message in processor.process([sent], number - 1).messages:
            if message.body and ".rejection." not in message.subject and ".timer." not in message.subject:
                restore(restored, message.body)
        assert entities(restored) == entities(processor.tree)
