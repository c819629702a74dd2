"""Reads a stream of Kubernetes objects and watch events, from a file or a pipe.

Belongs here: cutting JSON or YAML into objects, telling which changes are older than what was seen. Does not: turning
objects into events (`observer`).
"""

import codecs
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.products.observe.events import mapping, text
from phaseline.engine.products.observe.manifest_files import objects
from phaseline.engine.publish.event_file import pieces
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey, key_of
from phaseline.schemas import bounds, yaml_text
from phaseline.schemas.errors import InvalidInput

MAX_LENGTH = 64 << 20
"""The most characters of one object."""
TYPES = ("ADDED", "MODIFIED", "DELETED")


class ObjectChange(NamedTuple):
    """An object after a change. `gone`: it was deleted, and the manifest is its last one.

    listed: a list says so, which is the last word on what is there: an API server that was put back from a backup
    counts its versions from lower numbers on.
    """

    manifest: Mapping[str, Any]
    gone: bool = False
    listed: bool = False


class SeenVersion(NamedTuple):
    """The uid and version of an object that was seen. version: None if it is no whole number."""

    uid: str
    version: int | None


class Versions:
    """The versions of objects that were seen, so that none comes back that is older.

    Watches of several API servers, and answers that are late, bring old versions of an object, and objects that are
    gone. An object that has no uid is never older.
    """

    def __init__(self, most_ended: int = 10_000) -> None:
        """most_ended: how many uids of objects that are gone are remembered."""
        self._seen: dict[ObjectKey, SeenVersion] = {}
        self._ended: dict[str, int | None] = {}
        """By uid, the version at its end; None if it cannot come back."""
        self._most = most_ended

    def is_older(self, change: ObjectChange) -> bool:
        """Whether a change is older than what was seen of this object, or of its name; learns from one that is not."""
        metadata, key = mapping(change.manifest, "metadata"), key_of(change.manifest)
        found = SeenVersion(text(metadata, "uid"), _whole(metadata.get("resourceVersion")))
        if not found.uid:
            return False
        before = self._seen.get(key)
        if not change.listed and self._is_older(found, before, gone=change.gone):
            return True
        if before is not None and before.uid != found.uid:
            self._end(before.uid, None)  # another object has its name
        if change.gone:
            self._seen.pop(key, None)
            self._end(*found)
        else:
            self._seen[key] = found
            self._ended.pop(found.uid, None)
        return False

    def _is_older(self, found: SeenVersion, before: SeenVersion | None, *, gone: bool) -> bool:
        if found.uid in self._ended:  # a watch that selects by labels may see an object go, and come back changed
            end = self._ended[found.uid]
            return end is None or found.version is None or found.version <= end
        if before is None or (gone and found.uid == before.uid):
            return False
        return found.version is not None and before.version is not None and found.version < before.version

    def _end(self, uid: str, version: int | None) -> None:
        self._ended[uid] = version
        if len(self._ended) > self._most:
            self._ended.pop(next(iter(self._ended)))


def _whole(found: Any) -> int | None:
    return int(found) if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 20 else None


class Objects:
    """Parses JSON values that follow each other, on any number of lines."""

    def __init__(self, name: str) -> None:
        """name: the name of the stream in errors."""
        self.name = name
        self._held, self._count, self._tried = "", 0, 0
        self._decoder = json.JSONDecoder()

    def take(self, text: str) -> Iterator[ObjectChange]:
        """The changes that are complete with this text. Raises `InvalidInput` for a value that is no object."""
        self._held += text
        # A long object comes in many pieces. It is parsed again only when its length has doubled, or a brace closes.
        if len(self._held) < 2 * self._tried and not text.rstrip().endswith("}"):
            return
        while self._held.strip():
            held = self._held.lstrip()
            try:
                value, end = self._decoder.raw_decode(held)
                if held.count("{", 0, end) + held.count("[", 0, end) > bounds.FOREIGN:
                    bounds.check_depth(value, bounds.FOREIGN)
            except (RecursionError, bounds.Unbounded) as error:
                where, problem = f"{self.name}, object {self._count + 1}", bounds.too_deep(bounds.FOREIGN)
                raise InvalidInput.bad_manifest(where=where, problem=problem) from error
            except ValueError as error:
                self._tried = len(held)
                where = f"{self.name}, object {self._count + 1}"
                if held[0] != "{":
                    raise InvalidInput.bad_manifest(
                        where=where, problem="it must be JSON, as printed by kubectl get -o json"
                    ) from None
                if len(held) > MAX_LENGTH:
                    raise InvalidInput.bad_manifest(where=where, problem=str(error)) from None
                return
            self._held, self._tried = held[end:], 0
            self._count += 1
            yield from changes(value, f"{self.name}, object {self._count}")

    def end(self) -> None:
        """Raise `InvalidInput.bad_manifest` if the last object is cut off."""
        if self._held.strip():
            raise InvalidInput.bad_manifest(where=f"{self.name}, object {self._count + 1}", problem="it is cut off")


def changes(value: Any, where: str) -> Iterator[ObjectChange]:
    """The changes in one value: an object, a list of objects, or a watch event of `kubectl --output-watch-events`."""
    kind, manifest = (value.get("type"), value.get("object")) if isinstance(value, Mapping) else (None, None)
    if isinstance(manifest, Mapping) and "kind" not in value:
        if kind == "ERROR":
            problem = f"the API server reports an error: {manifest.get('message') or dict(manifest)}"
            raise InvalidInput.bad_manifest(where=where, problem=problem)
        if kind in TYPES:
            yield ObjectChange(manifest, gone=kind == "DELETED")
    else:
        found = [*objects(value, where)]
        listed = len(found) != 1 or found[0] is not value
        yield from (ObjectChange(one, listed=listed) for one in found)


def read_text(text: bytes, name: str) -> Iterator[ObjectChange]:
    """The changes in a whole file, JSON or YAML."""
    if text.lstrip()[:1] == b"{":
        stream = Objects(name)
        yield from stream.take(text.decode(errors="replace") + "\n")
        stream.end()
        return
    try:
        for number, value in enumerate(yaml_text.documents(text), 1):
            yield from changes(value, f"{name}, document {number}")
    except yaml_text.NotYaml as error:
        raise InvalidInput.bad_manifest(where=name, problem=str(error)) from error


async def live(descriptor: int, name: str) -> AsyncIterator[ObjectChange]:
    """The changes that come through a pipe, each as soon as it is complete."""
    stream, decoder = Objects(name), codecs.getincrementaldecoder("utf-8")("replace")
    async for piece in pieces(descriptor, name):
        for change in stream.take(decoder.decode(piece)):
            yield change
    stream.end()
