"""Kubernetes objects one after the other, from a file or through a pipe, each with what happened to it.

Belongs here: cutting a stream of JSON or YAML into objects. Does not: what they say.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.errors import BadManifest
from phaseline.engine.observe.manifest_files import objects
from phaseline.engine.publish.event_file import pieces
from phaseline.machines.kubernetes import manifest as manifests

MOST = 64 << 20
"""Characters of one object; what is longer is no object."""
TYPES = ("ADDED", "MODIFIED", "DELETED")


class Change(NamedTuple):
    """An object as it is now; `gone`: as it was when it was deleted."""

    found: Mapping[str, Any]
    gone: bool = False


class Objects:
    """JSON values that stand one after the other, on any number of lines."""

    def __init__(self, name: str) -> None:
        """`name`: what the stream is called, for who reads an error."""
        self.name = name
        self._held, self._count, self._tried = "", 0, 0
        self._decoder = json.JSONDecoder()

    def take(self, text: str) -> Iterator[Change]:
        """Those that are complete with this text; raises `BadManifest` for what is no object."""
        self._held += text
        # A long object comes in many pieces: it is looked at again only when as much again has come, or a brace closes.
        if len(self._held) < 2 * self._tried and not text.rstrip().endswith("}"):
            return
        while self._held.strip():
            held = self._held.lstrip()
            try:
                value, end = self._decoder.raw_decode(held)
            except ValueError as error:
                self._tried = len(held)
                where = f"{self.name}, object {self._count + 1}"
                if held[0] != "{":
                    raise BadManifest(
                        where=where, problem="it must be JSON, as kubectl get -o json prints it"
                    ) from None
                if len(held) > MOST:
                    raise BadManifest(where=where, problem=str(error)) from None
                return
            self._held, self._tried = held[end:], 0
            self._count += 1
            yield from changes(value, f"{self.name}, object {self._count}")

    def end(self) -> None:
        """Raise `BadManifest` where an object was cut off."""
        if self._held.strip():
            raise BadManifest(where=f"{self.name}, object {self._count + 1}", problem="it is cut off")


def changes(value: Any, where: str) -> Iterator[Change]:
    """What one value says: an object, a list of them, or a watch event as `--output-watch-events` prints it."""
    kind, found = (value.get("type"), value.get("object")) if isinstance(value, Mapping) else (None, None)
    if isinstance(found, Mapping) and "kind" not in value:
        if kind == "ERROR":
            raise BadManifest(where=where, problem=f"the API server says: {found.get('message') or dict(found)}")
        if kind in TYPES:
            yield Change(found, gone=kind == "DELETED")
    else:
        yield from map(Change, objects(value, where))


def of_text(text: bytes, name: str) -> Iterator[Change]:
    """The objects of a whole file, JSON or YAML."""
    if text.lstrip()[:1] == b"{":
        stream = Objects(name)
        yield from stream.take(text.decode(errors="replace") + "\n")
        stream.end()
        return
    try:
        for place, value in enumerate(manifests.documents(text), 1):
            yield from changes(value, f"{name}, document {place}")
    except manifests.NotYaml as error:
        raise BadManifest(where=name, problem=str(error)) from error


async def live(descriptor: int, name: str) -> AsyncIterator[Change]:
    """The objects that come through a pipe, each as soon as it is complete."""
    stream, rest = Objects(name), b""
    async for piece in pieces(descriptor, name):
        whole = rest + piece
        cut = len(whole) - _open_end(whole)
        rest = whole[cut:]
        for change in stream.take(whole[:cut].decode(errors="replace")):
            yield change
    stream.end()


def _open_end(piece: bytes) -> int:
    """How many bytes at the end begin a character that is not complete."""
    for back in range(1, min(4, len(piece)) + 1):
        byte = piece[-back]
        if byte & 0xC0 != 0x80:
            size = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if size > back else 0
    return 0
