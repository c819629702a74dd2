"""As `with_transitions`, but the events of one fetch share a transaction."""

from pathlib import Path

from benchmarks.peers.peer import Event, Peer, main
from benchmarks.peers.with_transitions import prepare


async def prepare_together(events: list[Event], directory: Path, url: str) -> Peer:
    """A transaction for every fetch."""
    return await prepare(events, directory, url, together=True)


if __name__ == "__main__":
    main(prepare_together)
