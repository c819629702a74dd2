"""UmaDB: each event is appended on condition that its entity has no newer one; states are kept in memory.

The server runs beside the peer, as NATS does, and answers once an append is on disk.
"""

import socket
import subprocess
import sys
import time
from pathlib import Path

from umadb import AppendCondition, Client, Query, QueryItem
from umadb import Event as Stored

from benchmarks.peers.broker import Broker
from benchmarks.peers.peer import AFTER, Event, Found, Peer, main


def _started(directory: Path) -> tuple[Client, "subprocess.Popen[bytes]"]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    server = subprocess.Popen(  # the server of this environment
        [Path(sys.executable).with_name("umadb"), "--listen", address, "--db-path", directory / "uma.db"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(100):
        try:
            client = Client(f"http://{address}")
            client.head()
        except Exception:  # noqa: BLE001  # whatever the client raises until the server listens
            time.sleep(0.1)
        else:
            return client, server
    server.kill()
    raise RuntimeError("the UmaDB server does not answer")


async def prepare(events: list[Event], directory: Path, url: str) -> Peer:
    """One append for each event."""
    client, server = _started(directory)
    broker = await Broker.filled(url, events)

    async def work() -> None:
        states: dict[str, tuple[str, int | None]] = {}
        async for batch in broker.batches():
            for event in batch:
                state, position = states.get(event.entity, ("Absent", None))
                if (state == "Absent") != (event.trigger == "create"):
                    raise ValueError(f"{event.trigger} is illegal in {state}")
                after = AFTER[event.trigger]
                body = f"{after}\n{event.reason}\n{event.message}".encode()
                condition = AppendCondition(Query(items=[QueryItem(tags=[event.entity])]), after=position)
                stored = Stored(event_type=event.trigger, data=body, tags=[event.entity])
                states[event.entity] = after, client.append([stored], condition=condition)
                await broker.tell(event, after)

    async def read() -> Found:
        found = {}
        count = 0
        for one in client.read():
            count += 1
            found[one.event.tags[0]] = one.event.data.decode().partition("\n")[0]
        server.terminate()
        server.wait()
        return Found(found, count)

    return Peer(work, read)


if __name__ == "__main__":
    main(prepare)
