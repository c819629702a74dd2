"""What must hold once a schedule is over and calm: each event counts once and in order, and nothing is lost.

Belongs here: the comparison of EVENTS with what agents were told, of LOG with what the core makes of EVENTS, of STATE
with LOG. Does not: how it came to that (`troubles`).
"""

import json
from collections.abc import Iterator
from itertools import zip_longest

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.subjects import Subjects
from tests.support.simulation.plant import PARTITIONS, Plant, kinds

SUBJECTS = Subjects("pl")


def problems(plant: Plant) -> list[str]:
    """What does not hold; empty if all is well."""
    found = [*plant.faults]
    for process in plant.world.processes:
        found += [f"{process.name}: {fault}" for fault in process.loop.unhandled]
    return [*found, *_events(plant), *_records(plant), *_states(plant)]


def _events(plant: Plant) -> Iterator[str]:
    """EVENTS holds what agents were told is stored, once and in order."""
    stored = [json.loads(one.data)["id"] for one in plant.hub.streams["pl-EVENTS"].messages.values()]
    for agent in plant.agents:
        wanted = [f"{agent.tree}-{number}" for number in range(agent.stored)]
        found = [one for one in stored if one.startswith(f"{agent.tree}-")]
        if found != wanted:
            doubled = sorted({one for one in found if found.count(one) > 1})
            lost = sorted({*wanted} - {*found})
            yield f"EVENTS of {agent.tree}: doubled {doubled}, lost {lost}, of {len(wanted)} {found}"


def _records(plant: Plant) -> Iterator[str]:
    """LOG holds what the core makes of the events, byte for byte."""
    events = plant.hub.streams["pl-EVENTS"].messages.values()
    for partition in range(PARTITIONS):
        start, marks = f"pl.log.{partition}.", f"{SUBJECTS.marks(partition)}."
        checkpoint = SUBJECTS.checkpoint(partition)
        found = [
            (one.subject, one.data)
            for one in plant.hub.streams["pl-LOG"].messages.values()
            if one.subject.startswith((start, marks)) and one.subject != checkpoint
        ]
        processor = Processor(Tree(kinds(), NoScripts()), SUBJECTS, partition, as_json=True)
        own = [
            StoredEvent(one.subject, one.data, one.sequence, one.time_ns)
            for one in events
            if one.subject.startswith(f"pl.inbox.{partition}.")
        ]
        wanted = list[tuple[str, bytes]]()
        while own:
            batch = processor.process(own, 0)
            wanted += [(one.subject, one.body) for one in batch.messages if not one.subject.startswith("pl.timer.")]
            del own[: batch.events]
        if found != wanted:
            pairs = zip_longest(found, wanted)
            at, (one, other) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
            yield f"LOG of partition {partition}: {len(found)} records for {len(wanted)}; at {at}: {one} for {other}"


def _states(plant: Plant) -> Iterator[str]:
    """STATE holds the last record of each entity."""
    last = dict[str, bytes]()
    for one in plant.hub.streams["pl-LOG"].messages.values():
        words = one.subject.split(".")
        if words[1] in ("log", "mark") and words[3] == "transition" and words[4] != "checkpoint":
            last[".".join(["pl.state", words[2], *words[4:5], *words[7:]])] = one.data
    found = {
        one.subject: one.data
        for one in plant.hub.streams["pl-STATE"].messages.values()
        if ".checkpoint." not in one.subject
    }
    if found != last:
        differ = [one for one in sorted(found.keys() | last.keys()) if found.get(one) != last.get(one)]
        yield f"STATE differs from LOG at {differ}"
