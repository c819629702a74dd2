"""Bytes to maps and back: msgpack by default, JSON where the first byte says so. The only importer of `msgpack`.

Belongs here: encoding and decoding of whole bodies. Does not: what the maps mean (`envelope`, `records`).
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, cast

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


def decode_stream(stream: BinaryIO) -> Iterator[Any]:
    """The values of a msgpack stream, one after another; raises `Undecodable` where it breaks off or is no msgpack."""
    unpacker = msgpack.Unpacker(stream, timestamp=0)
    try:
        yield from unpacker
        rest = unpacker.tell()
    except (ValueError, msgpack.UnpackException) as error:
        raise Undecodable(f"msgpack: {error or type(error).__name__} after byte {unpacker.tell()}") from error
    stream.seek(0, 2)
    if stream.tell() > rest:
        raise Undecodable(f"msgpack: cut off inside a value after byte {rest}")


def _format_of(body: bytes) -> str:
    return "JSON" if body[:1] in JSON_STARTS else "msgpack"
