"""The library `python-statemachine`, one machine per entity in memory, with states and transitions in SQLite."""

from pathlib import Path

from statemachine import State, StateMachine

from benchmarks.peers.broker import Broker
from benchmarks.peers.peer import Event, Peer, Store, main


class Life(StateMachine):
    """The life of a cluster, a pool or a node."""

    absent = State("Absent", initial=True)
    creating = State("Creating")
    running = State("Running")
    updating = State("Updating")
    failed = State("Failed")
    unschedulable = State("Unschedulable")

    create = absent.to(creating)
    created = running.from_(creating, running, updating, failed, unschedulable)
    not_ready = failed.from_(creating, running, updating, failed, unschedulable)
    ready = running.from_(creating, running, updating, failed, unschedulable)
    cordon = unschedulable.from_(creating, running, updating, failed, unschedulable)
    uncordon = running.from_(creating, running, updating, failed, unschedulable)
    update = updating.from_(creating, running, updating, failed, unschedulable)
    updated = running.from_(creating, running, updating, failed, unschedulable)
    overdue = failed.from_(creating, running, updating, failed, unschedulable)
    renewed = running.from_(creating, running, updating, failed, unschedulable)


async def prepare(events: list[Event], directory: Path, url: str) -> Peer:
    """One transaction for each event."""
    store, broker = Store(directory), await Broker.filled(url, events)

    async def work() -> None:
        machines: dict[str, Life] = {}
        async for batch in broker.batches():
            for event in batch:
                machine = machines.get(event.entity)
                if machine is None:
                    machine = machines[event.entity] = Life()
                machine.send(event.trigger)
                state = next(iter(machine.configuration)).name
                store.begin()
                store.write(event, state)
                store.commit()
                await broker.tell(event, state)

    return Peer(work, store.read)


if __name__ == "__main__":
    main(prepare)
