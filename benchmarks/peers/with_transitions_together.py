"""As `with_transitions`, but 500 events share a transaction. Nothing tells the publisher of a single one."""

from pathlib import Path

from benchmarks.peers.peer import Event, Peer, main
from benchmarks.peers.with_transitions import TOGETHER, prepare


async def prepare_together(events: list[Event], directory: Path, url: str) -> Peer:
    """A transaction for every 500 events."""
    return await prepare(events, directory, url, TOGETHER)


if __name__ == "__main__":
    main(prepare_together)
