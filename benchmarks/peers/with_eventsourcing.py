"""The library `eventsourcing`: one aggregate per entity, its events in SQLite, the aggregates cached in memory."""

from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from benchmarks.peers.broker import Broker
from benchmarks.peers.peer import AFTER, Event, Found, Peer, main


class Life(Aggregate):
    """The life of a cluster, a pool or a node."""

    @event("Created")
    def __init__(self, entity: str, reason: str, message: str) -> None:
        self.entity, self.state, self.reason, self.message = entity, "Creating", reason, message

    @staticmethod
    def create_id(entity: str) -> UUID:
        """The id of the aggregate of an entity."""
        return uuid5(NAMESPACE_URL, entity)

    @event("Moved")
    def move(self, trigger: str, reason: str, message: str) -> None:
        """Apply a trigger."""
        self.state, self.reason, self.message = AFTER[trigger], reason, message


async def prepare(events: list[Event], directory: Path, url: str) -> Peer:
    """One `save` for each event."""
    application: Application[UUID] = Application(
        env={
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": str(directory / "events.db"),
            "AGGREGATE_CACHE_MAXSIZE": "10000",
            "AGGREGATE_CACHE_FASTFORWARD": "n",
        }
    )

    broker = await Broker.filled(url, events)

    async def work() -> None:
        async for batch in broker.batches():
            for one in batch:
                if one.trigger == "create":
                    life = Life(one.entity, one.reason, one.message)
                else:
                    life = application.repository.get(Life.create_id(one.entity))
                    life.move(one.trigger, one.reason, one.message)
                application.save(life)
                await broker.tell(one, life.state)

    async def read() -> Found:
        ids = {Life.create_id(one.entity) for one in events}
        lives: list[Life] = [application.repository.get(one) for one in ids]
        return Found({life.entity: life.state for life in lives}, application.recorder.max_notification_id() or 0)

    return Peer(work, read)


if __name__ == "__main__":
    main(prepare)
