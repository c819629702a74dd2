"""The library `transitions`, one machine per entity in memory, with states and transitions in SQLite."""

from pathlib import Path
from typing import Any

from transitions import Machine

from benchmarks.peers.peer import AFTER, STATES, Event, Peer, Store, main

ROWS: list[list[Any]] = [
    [trigger, "Absent" if trigger == "create" else STATES[1:], state] for trigger, state in AFTER.items()
]
TOGETHER = 500
"""The events in one transaction where they are committed together."""


class Entity:
    """The model of a machine."""

    state: str


async def prepare(events: list[Event], directory: Path, _: str, together: int = 1) -> Peer:
    """One transaction for each event, or for `together` of them."""
    store = Store(directory)

    async def work() -> None:
        machines: dict[str, Machine] = {}
        for start in range(0, len(events), together):
            store.begin()
            for event in events[start : start + together]:
                machine = machines.get(event.entity)
                if machine is None:
                    machine = machines[event.entity] = Machine(
                        states=list(STATES), transitions=ROWS, initial="Absent", auto_transitions=False
                    )
                machine.trigger(event.trigger)
                store.write(event, machine.state)
            store.commit()

    return Peer(work, store.read)


if __name__ == "__main__":
    main(prepare)
