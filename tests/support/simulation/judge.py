"""What must hold once a schedule is over and calm: each event counts once and in order, and nothing is lost.

Belongs here: the comparison of EVENTS with what agents were told, of LOG with what the core makes of EVENTS, of STATE
with LOG. Does not: how it came to that (`troubles`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest

import msgspec
from msgspec import json

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tables_change import moving
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.table_eras import Era
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND
from phaseline.schemas.subjects import Subjects
from tests.support.simulation import tables
from tests.support.simulation.plant import PARTITIONS, Plant
from tests.support.simulation.stream import Kept, VirtualStream

SUBJECTS = Subjects("pl")
LATE = SECOND // 2
"""How late a timer may be, ns."""


def problems(plant: Plant) -> list[str]:
    """What does not hold; empty if all is well."""
    found = [*plant.faults]
    for process in plant.world.processes:
        found += [f"{process.name}: {fault}" for fault in process.loop.unhandled]
    return [*found, *_events(plant), *_records(plant), *_states(plant)]


def _kept(stream: VirtualStream, archived: Mapping[int, bytes]) -> list[Kept]:
    """What a stream and the archive hold together, by sequence."""
    held = stream.messages
    return [one for sequence, one in stream.stored.items() if sequence in held or archived.get(sequence) == one.data]


def _events(plant: Plant) -> Iterator[str]:
    """EVENTS holds what agents were told is stored, once and in order."""
    kept = _kept(plant.hub.streams["pl-EVENTS"], plant.archive.held()[0])
    stored = [str(json.decode(one.data).get("id")) for one in kept if one.subject.startswith("pl.inbox.")]
    for agent in plant.agents:
        wanted = [f"{agent.tree}-{number}" for number in range(agent.stored)]
        found = [one for one in stored if one.startswith(f"{agent.tree}-")]
        if found != wanted and (again := _published_again(plant, agent.tree)):
            found = [one for one, before in zip(found, ["", *found], strict=False) if one != before or one not in again]
        if found != wanted:
            doubled = sorted({one for one in found if found.count(one) > 1})
            lost = sorted({*wanted} - {*found})
            yield f"EVENTS of {agent.tree}: doubled {doubled}, lost {lost}, of {len(wanted)} {found}"


def _published_again(plant: Plant, tree: str) -> set[str]:
    """The events that the store of an edge has stored twice. EVENTS tells them apart only in its own window.

    A killed server forgets the ids of what the store has given up, and an agent without an answer publishes again.
    """
    site = plant.sites.get(tree)
    store = None if site is None else site.streams.get(EdgeNames("pl", tree).store)
    stored = () if store is None else store.stored.values()
    counts = Counter(str(json.decode(one.data)["id"]) for one in stored)
    return {one for one, count in counts.items() if count > 1}


def _records(plant: Plant) -> Iterator[str]:
    """LOG holds what the core makes of the events, byte for byte, and no timer is missing."""
    log, (events, records) = plant.hub.streams["pl-LOG"], plant.archive.held()
    kept = _kept(plant.hub.streams["pl-EVENTS"], events)
    ours = [one for one in _kept(log, records) if one.sequence not in log.foreign]
    former, later = tables.former().digest, tables.later().digest
    for partition in range(PARTITIONS):
        starts, checkpoint = (f"pl.log.{partition}.", f"{SUBJECTS.marks(partition)}."), SUBJECTS.checkpoint(partition)
        eras = [
            msgspec.convert(codec.decode_own(one.data), Era)
            for one in ours
            if one.subject == SUBJECTS.tables(partition)
        ]
        digests = [digest for digest, _ in groupby(one.digest for one in eras)]
        if digests not in ([former], [later], [former, later]):
            yield f"the tables of partition {partition} go back: {digests}"
            continue
        found = [
            (one.subject, one.data) for one in ours if one.subject.startswith(starts) and one.subject != checkpoint
        ]
        own = [
            StoredEvent(one.subject, one.data, one.sequence, one.time_ns)
            for one in kept
            if one.subject.startswith((f"pl.inbox.{partition}.", f"pl.due.{partition}."))
        ]
        tree, messages = _decided(partition, own, eras)
        wanted = [(one.subject, one.body) for one in messages if not one.subject.startswith("pl.timer.")]
        if found != wanted:
            pairs = zip_longest(found, wanted)
            at, (one, other) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
            yield f"LOG of partition {partition}: {len(found)} records for {len(wanted)}; at {at}: {one} for {other}"
        yield from _timers(plant, tree)


def _decided(partition: int, events: list[StoredEvent], eras: Sequence[Era]) -> tuple[Tree, list[Message]]:
    """What the core makes of the events of a partition, by the tables that the notes name."""
    tree, found = Tree(tables.of_digest()[eras[0].digest], NoScripts()), list[Message]()
    for era, following in zip(eras, [*eras[1:], None], strict=True):
        kinds = tables.of_digest()[era.digest]
        if kinds is not tree.kinds:
            before, tree = tree, Tree(kinds, NoScripts())
            for entities in before.entities.values():
                for entity in entities.values():
                    tree.put(entity)
        processor = Processor(tree, SUBJECTS, partition, as_json=True)
        if era.former:
            for batch in processor.move(era.change(), moving.pieces(tree, era.change())):
                found += batch.messages
        while events and (following is None or events[0].sequence <= following.position):
            upto = [one for one in events if following is None or one.sequence <= following.position]
            batch = processor.process(upto, 0)
            found += batch.messages
            del events[: batch.events]
    return tree, found


def _timers(plant: Plant, tree: Tree) -> Iterator[str]:
    """No entity waits for a timer that was due: it has fired, and its event is decided."""
    now = plant.world.time_ns() - LATE
    for entities in tree.entities.values():
        for entity in entities.values():
            for facet, due in entity.timers_ns.items():
                if due < now:
                    yield f"the timer {facet} of {entity.kind} {entity.id} never came, due {(now - due) / SECOND:.1f} s ago"


def _states(plant: Plant) -> Iterator[str]:
    """STATE holds the last record of each entity, and its last mark."""
    last = dict[str, bytes]()
    for one in plant.hub.streams["pl-LOG"].messages.values():
        words = one.subject.split(".")
        if words[1] in ("log", "mark") and words[3] == "transition" and words[4] != "checkpoint":
            last[".".join(["pl.state", words[2], *words[4:5], *words[7:]])] = one.data
    held = {
        one.subject: one for one in plant.hub.streams["pl-STATE"].messages.values() if ".checkpoint." not in one.subject
    }
    found = {subject: one.data for subject, one in held.items() if subject in last or not _is_outdated(one, held)}
    if found != last:
        differ = [one for one in sorted(found.keys() | last.keys()) if found.get(one) != last.get(one)]
        yield f"STATE differs from LOG at {differ}"


def _is_outdated(one: Kept, held: Mapping[str, Kept]) -> bool:
    """Whether this is the mark of an entity with a later transition. An archive may have taken it out of LOG."""
    head, is_mark, entity = one.subject.partition(".mark.")
    later = held.get(f"{head}.{entity}") if is_mark else None
    return later is not None and later.sequence > one.sequence
