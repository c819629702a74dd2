"""The bytes of one stream, as the server packs them: into a file, and back.

Belongs here: the two calls of the JetStream API, their chunks, and when a server has stopped sending. Does not: which
streams, in which order (`backing_up`, `restoring`).
"""

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

from phaseline.engine import regular_files
from phaseline.engine.nats import frames
from phaseline.engine.nats.api_reply import read_reply
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.backup.manifest import StreamEntry
from phaseline.schemas.errors import NoAnswer

WHOLE = "204"
"""The status of the message after the last chunk. Another one says why the server stopped."""
PATIENCE = 60.0
"""Seconds without a chunk, or without an answer to one, after which the server is given up."""
CHUNK = 1 << 17
"""The most bytes of a chunk."""


async def save(wire: Wire, stream: str, folder: Path, advance: Callable[[int], None]) -> StreamEntry:
    """Write what a stream holds now to a file of the folder. advance: gets the numbers of bytes that were written.

    Raises `ApiFailed`, `NoAnswer.backup_stopped`, `OSError`.
    """
    inbox, path = wire.inbox(), folder / f"{stream}.stream"
    with regular_files.made(path) as file:
        taken = _Chunks(wire, file.write, advance)
        sid = await wire.subscribe(inbox, taken.take)
        try:
            body = {"deliver_subject": inbox, "no_consumers": True, "chunk_size": CHUNK, "jsck": True}
            told = await wire.api(f"STREAM.SNAPSHOT.{stream}", body)
            await taken.all_of_them(stream)
        finally:
            await wire.unsubscribe(sid)
        file.flush()
    return StreamEntry(
        stream=stream, file=path.name, config=told["config"], state=told["state"], bytes=taken.size,
        sha256=taken.digest.hexdigest(),
    )  # fmt: skip


class _Chunks:
    """Takes the chunks of a stream. The server sends a few ahead of what was written."""

    def __init__(self, wire: Wire, write: Callable[[bytes], int], advance: Callable[[int], None]) -> None:
        self._wire, self._write, self._advance = wire, write, advance
        self.digest, self.size = hashlib.sha256(), 0
        self._moved, self._end = asyncio.Event(), asyncio.get_running_loop().create_future()

    def take(self, _: str, data: bytes, block: bytes | None, reply: str) -> None:
        """Take one message."""
        self._moved.set()
        if self._end.done():
            return
        if not data:
            headers = frames.read_headers(block) if block else {}
            status = headers.get(frames.STATUS, WHOLE)
            self._end.set_result("" if status == WHOLE else f"{status} {headers.get(frames.DESCRIPTION, '')}".strip())
            return
        try:
            self._write(data)
        except OSError as error:  # a full disk
            self._end.set_exception(error)
            return
        self.digest.update(data)
        self.size += len(data)
        self._advance(len(data))
        if reply:  # the last one wants no answer
            self._wire.send(self._wire.frame(reply, b""))

    async def all_of_them(self, stream: str) -> None:
        """Wait for the end; raises `NoAnswer.backup_stopped`, `OSError`."""
        while not self._end.done():
            self._moved.clear()
            moved = asyncio.ensure_future(self._moved.wait())
            done, _ = await asyncio.wait((moved, self._end), timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            moved.cancel()
            if not done:
                raise NoAnswer.backup_stopped(stream=stream, problem=f"nothing came for {PATIENCE:g} s")
        if problem := self._end.result():
            raise NoAnswer.backup_stopped(stream=stream, problem=problem)


async def put_back(wire: Wire, entry: StreamEntry, folder: Path, advance: Callable[[int], None]) -> int:
    """Make a stream of its file; returns the number of its last message. Raises `ApiFailed`, `NoAnswer`, `OSError`."""
    body = {"config": entry.config, "state": entry.state}
    where = str((await wire.api(f"STREAM.RESTORE.{entry.stream}", body))["deliver_subject"])
    with regular_files.opened(folder, entry.file) as file:
        while chunk := file.read(CHUNK):
            await wire.request(where, chunk, timeout=PATIENCE)
            advance(len(chunk))
    made = read_reply(where, (await wire.request(where, b"", timeout=PATIENCE)).data)
    return int(made["state"]["last_seq"])
