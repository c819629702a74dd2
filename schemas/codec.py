"""Bytes to maps and back: msgpack by default, JSON where the first byte says so. The only importer of `msgpack`.

Belongs here: encoding and decoding of whole bodies. Does not: what the maps mean (`envelope`, `records`).
"""

from collections.abc import Iterator
from typing import Any, cast

import msgpack  # type: ignore[import-untyped]  # it ships no types
import msgspec

JSON_STARTS = (b"{", b" ", b"\n", b"\r", b"\t")
"""A msgpack map never starts with any of these bytes, so one look tells the two formats apart."""

_json_decoder = msgspec.json.Decoder()
_json_encoder = msgspec.json.Encoder()
_pack = msgpack.Packer(autoreset=True).pack


class Undecodable(ValueError):
    """The body is neither a msgpack map nor a JSON object."""


def decode(body: bytes) -> dict[str, Any]:
    """The map in `body`, msgpack or JSON by its first byte; raises `Undecodable` saying what is wrong with it."""
    if not body:
        raise Undecodable("the body is empty")
    try:
        found = _json_decoder.decode(body) if body[:1] in JSON_STARTS else msgpack.unpackb(body, timestamp=0)
    except msgpack.ExtraData as error:
        raise Undecodable("msgpack: the first value is followed by more bytes") from error
    except (ValueError, RecursionError, OverflowError) as error:
        raise Undecodable(f"{_format_of(body)}: {error or type(error).__name__}") from error
    if type(found) is not dict:
        raise Undecodable(f"{_format_of(body)}: expected a map, found {type(found).__name__}")
    return cast("dict[str, Any]", found)


def encode(value: Any) -> bytes:
    """`value` as msgpack."""
    return cast("bytes", _pack(value))


def encode_json(value: Any) -> bytes:
    """`value` as one line of JSON; bytes become base64."""
    return _json_encoder.encode(value)


def peek(body: bytes, name: str) -> Any:
    """One value of a msgpack map, read no further than there; None where the map does not hold it."""
    unpacker = msgpack.Unpacker(timestamp=0)
    unpacker.feed(body)
    try:
        for _ in range(unpacker.read_map_header()):
            if unpacker.unpack() == name:
                return unpacker.unpack()
            unpacker.skip()
    except (ValueError, RecursionError, OverflowError, msgpack.UnpackException) as error:
        raise Undecodable(f"msgpack: {error or type(error).__name__}") from error
    return None


class Values:
    """The values of a msgpack stream that comes in pieces; raises `Undecodable` where it breaks off or is no msgpack.

    begin, end: the bytes between which the value handed out last stood.
    """

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(timestamp=0)
        self._fed = self.begin = self.end = 0

    def feed(self, piece: bytes) -> Iterator[Any]:
        """Those that are complete by now."""
        try:
            self._unpacker.feed(piece)
            self._fed += len(piece)
            for value in self._unpacker:
                self.begin, self.end = self.end, self._unpacker.tell()
                yield value
        except (ValueError, RecursionError, OverflowError, msgpack.UnpackException) as error:
            raise Undecodable(f"msgpack: {error or type(error).__name__} after byte {self.end}") from error

    def close(self) -> None:
        """Nothing more will come."""
        if self._fed > self.end:
            raise Undecodable(f"msgpack: cut off inside a value after byte {self.end}")


def _format_of(body: bytes) -> str:
    return "JSON" if body[:1] in JSON_STARTS else "msgpack"
