"""The library `transitions`, one machine per entity in memory, with states and transitions in SQLite."""

from pathlib import Path
from typing import Any

from transitions import Machine

from benchmarks.peers.broker import Broker
from benchmarks.peers.peer import AFTER, STATES, Event, Peer, Store, main

ROWS: list[list[Any]] = [
    [trigger, "Absent" if trigger == "create" else STATES[1:], state] for trigger, state in AFTER.items()
]


class Entity:
    """The model of a machine."""

    state: str


async def prepare(events: list[Event], directory: Path, url: str, *, together: bool = False) -> Peer:
    """One transaction for each event; together: one for each batch that was fetched."""
    store, broker = Store(directory), await Broker.filled(url, events)

    async def work() -> None:
        machines: dict[str, Machine] = {}
        async for batch in broker.batches():
            for piece in [batch] if together else [[event] for event in batch]:
                store.begin()
                for event in piece:
                    machine = machines.get(event.entity)
                    if machine is None:
                        machine = machines[event.entity] = Machine(
                            states=list(STATES), transitions=ROWS, initial="Absent", auto_transitions=False
                        )
                    machine.trigger(event.trigger)
                    store.write(event, machine.state)
                store.commit()
                for event in piece:
                    await broker.tell(event, AFTER[event.trigger])

    return Peer(work, store.read)


if __name__ == "__main__":
    main(prepare)
