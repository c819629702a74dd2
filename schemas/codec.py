"""Bytes to values and back: msgpack by default, JSON where the first byte says so. The only importer of `msgpack`.

Two libraries, because they are strict about different things. `msgpack` reads bodies of unknown origin, streams in
pieces, and writes values of unknown origin: it refuses keys that are not text, and values that no map on the wire may
hold. `msgspec` writes our own structs, and reads and writes JSON. Both write the same bytes for the same value.

Belongs here: encoding and decoding of whole bodies. Does not: the bounds on what a body holds (`bounds`), what the maps
mean (`envelope`, `records`).
"""

import json
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, cast

import msgpack  # type: ignore[import-untyped]  # it ships no types
import msgspec
import msgspec.yaml
from msgspec.msgpack import Ext

from phaseline.schemas import bounds

JSON_STARTS = frozenset({b"{", b" ", b"\n", b"\r", b"\t"})
"""A msgpack map never starts with any of these bytes."""

BOM = "\ufeff"
SHOWN = 32
"""The most characters of a text that an error repeats."""
CUT_OFF = "it is cut off: the body ends inside a value"
"""What is wrong with a body whose end is missing."""
HALF = "a text in it has half of a surrogate pair"
"""What is wrong with a text that another library calls cut off, or says nothing of."""
_PLACE = re.compile(r"\(byte (\d+)\)")
"""Where a library says that a JSON text is wrong."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_BLANKS = dict.fromkeys(map(ord, "\t\r\n"), " ")
_IN_JSON = frozenset({str, int, bool, type(None)})
_TIMESTAMP = -1
"""The code of msgpack's extension type for timestamps."""


class Undecodable(ValueError):
    """The body is neither a msgpack map nor a JSON object."""


def _read_extension(code: int, data: bytes) -> Ext:
    """An extension value as both libraries can write it; raises `ValueError` for a code that msgpack does not allow."""
    return Ext(*msgpack.ExtType(code, data))


def _for_msgpack(value: object) -> Any:
    if isinstance(value, Ext):
        return msgpack.ExtType(value.code, value.data)
    if isinstance(value, int):
        raise OverflowError("Integer value out of range")
    raise TypeError(f"a {type(value).__name__} cannot be written as msgpack")


def _for_msgspec(value: object) -> Any:
    if isinstance(value, msgpack.Timestamp):
        return Ext(_TIMESTAMP, value.to_bytes())
    raise TypeError(f"a {type(value).__name__} cannot be written as msgpack")


def _for_json(value: object) -> Any:
    if isinstance(value, Ext):
        return [value.code, value.data]
    if isinstance(value, int) and type(value) is not int:  # a place of a log
        return int(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


_json_decoder = msgspec.json.Decoder()
_json_encoder = msgspec.json.Encoder(enc_hook=_for_json)
_struct_encoder = msgspec.msgpack.Encoder(enc_hook=_for_msgspec)
_pack = msgpack.Packer(autoreset=True, default=_for_msgpack).pack


def is_json(body: bytes) -> bool:
    """Whether a map in a body is JSON; otherwise it is msgpack. A feed in JSON holds both: not everything is JSON."""
    return body[:1] in JSON_STARTS


def decode(body: bytes, levels: int = bounds.WRAPPED) -> dict[str, Any]:
    """The map in `body`, which is msgpack or JSON by its first byte; raises `Undecodable` with the problem.

    levels: how deep maps and lists may be nested in each other.
    """
    if not body:
        raise Undecodable("the body is empty")
    try:
        found = _unjson(body, levels) if is_json(body) else _unpack(body, levels)
    except msgpack.ExtraData as error:
        raise Undecodable(_text_problem(body) or "msgpack: the first value is followed by more bytes") from error
    except (ValueError, RecursionError, OverflowError) as error:
        raise Undecodable(_text_problem(body) or f"{_format_of(body)}: {fault_of(error)}") from error
    if type(found) is not dict:
        problem = _text_problem(body) or f"{_format_of(body)}: expected a map, found {type(found).__name__}"
        raise Undecodable(problem)
    return cast("dict[str, Any]", found)


def _text_problem(body: bytes) -> str | None:
    """What is wrong with a body that is a text but no JSON object; None for one that begins like it, or for bytes."""
    try:
        text = body.decode().strip()
    except UnicodeDecodeError:
        return None
    if text.startswith(BOM):
        return "the text begins with a byte order mark: send it without"
    if not text or text[0] == "{" or not text.translate(_BLANKS).isprintable():
        return None
    try:
        found = _json_decoder.decode(text)
    except (ValueError, RecursionError):
        return f"a text that is neither JSON nor msgpack: it begins with {text[:SHOWN]!r}"
    return f"JSON: expected a map, found {type(found).__name__}"


def fault_of(error: Exception) -> str:
    """What is wrong with a body, in our words: those of a library change with its version."""
    said = str(error)
    if isinstance(error, bounds.Unbounded) or said == HALF:
        return said
    if isinstance(error, UnicodeDecodeError) or "utf-8" in said.lower():
        return "a text in it is not UTF-8"
    if "truncated" in said or "incomplete" in said or isinstance(error, msgpack.OutOfData):
        return CUT_OFF
    if "out of range" in said:
        return "a number in it is out of range"
    place = _PLACE.search(said)
    return f"byte {int(place[1]) + 1:,} does not fit there" if place else "it cannot be read"


def first_members(body: bytes) -> tuple[dict[str, Any], str]:
    """The members of a msgpack map as far as they can be read, and the name of the one that cannot be."""
    found, name = dict[str, Any](), ""
    unpacker = msgpack.Unpacker(timestamp=0, ext_hook=_read_extension, max_buffer_size=max(len(body), 1))
    try:
        unpacker.feed(body)
        for _ in range(unpacker.read_map_header()):
            key = unpacker.unpack()
            name = key if isinstance(key, str) else ""
            found[name], name = unpacker.unpack(), ""
    except (ValueError, TypeError, RecursionError, OverflowError, msgpack.UnpackException):
        pass
    return found, name


def decode_own(body: bytes) -> dict[str, Any]:
    """The map in a body that only the engine writes, as msgpack; raises `Undecodable`."""
    if is_json(body):
        raise Undecodable("JSON, where the engine writes msgpack")
    return decode(body)


def decode_part(body: bytes, levels: int) -> Any:
    """The msgpack value in a part of a body, any value; raises `Undecodable`. levels: as for `decode`."""
    try:
        return _unpack(body, levels)
    except (ValueError, RecursionError, OverflowError, msgpack.UnpackException) as error:
        raise Undecodable(f"msgpack: {fault_of(error)}") from error


def _unpack(body: bytes, levels: int) -> Any:
    try:
        found = msgpack.unpackb(body, timestamp=0, ext_hook=_read_extension)
    except msgpack.StackError as error:
        raise bounds.Unbounded(bounds.too_deep(levels)) from error
    bounds.check_msgpack(body, found, levels)
    return found


def _unjson(body: bytes, levels: int) -> Any:
    """The value of a JSON text. Its depth is judged before a library reads it: the answer is the same everywhere."""
    bounds.check_json_depth(body, levels)
    try:
        found = _json_decoder.decode(body)
    except msgspec.DecodeError as error:
        raise (ValueError(HALF) if _has_half_a_pair(body) else error) from None
    bounds.check_json_numbers(body, found)
    return found


def _has_half_a_pair(body: bytes) -> bool:
    """Whether a text that is no JSON would be, but for half of a surrogate pair, which only this library takes."""
    try:
        json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return _SURROGATE.search(body) is not None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def decode_text(text: str | bytes, levels: int = bounds.LEVELS) -> Any:
    """The value of a JSON text, any value; raises `Undecodable`. levels: how deep it may be nested."""
    try:
        return _unjson(text.encode() if isinstance(text, str) else text, levels)
    except (ValueError, RecursionError, OverflowError) as error:
        raise Undecodable(f"JSON: {fault_of(error)}") from error


def encode(value: Any) -> bytes:
    """A value of unknown origin as msgpack; raises `TypeError`, `ValueError` or `OverflowError` if it cannot be."""
    return cast("bytes", _pack(value))


def encode_struct(value: msgspec.Struct) -> bytes:
    """A struct as a msgpack map of its fields, in their order."""
    return _struct_encoder.encode(value)


def encode_parts(parts: Sequence[Any]) -> bytes:
    """Values and structs as a msgpack list. A `msgspec.Raw` stands in it as it is."""
    return _struct_encoder.encode(parts)


def encode_json(value: Any) -> bytes:
    """A value or a struct as one line of JSON; bytes become base64."""
    return _json_encoder.encode(value)


def encode_each_as_json(values: list[Any]) -> list[bytes]:
    """Each of these values as JSON: no text in JSON holds the end of a line as it is."""
    return _json_encoder.encode_lines(values).split(b"\n")[:-1]


def as_json(body: bytes) -> bytes:
    """The JSON text of the map in a body of ours; bytes in it become base64."""
    return body if is_json(body) else encode_json(decode(body))


def json_holds(value: Any) -> bool:
    """Whether JSON gives the same value back: it has no bytes, timestamps, infinite numbers and the like."""
    kind = type(value)
    if kind is dict:
        return all(type(key) is str and json_holds(one) for key, one in value.items())
    if kind is list or kind is tuple:
        return all(map(json_holds, value))
    return kind in _IN_JSON or (kind is float and isfinite(value))


def plain_value(value: Any) -> str:
    """A value for people: as JSON writes it, but a text without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def encode_yaml(value: Any) -> str:
    """A value as a YAML document; bytes become base64. It needs PyYAML."""
    return msgspec.yaml.encode(value, enc_hook=_for_json).decode().rstrip("\n")


def to_map(value: msgspec.Struct) -> dict[str, Any]:
    """A struct as the map that `decode` would give back for its bytes."""
    return decode(encode_struct(value))


def may_hold_timestamp(body: bytes) -> bool:
    """Whether a msgpack body may hold a timestamp, which `msgspec` would read with fewer digits than `decode` does.

    A timestamp's type is the byte 0xFF, which no text holds; a number may hold it too.
    """
    return b"\xff" in body


def length_of(stream: bytes | bytearray, values: int) -> int:
    """How many bytes the first values of a msgpack stream take, which holds so many at least."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(stream)
    for _ in range(values):
        unpacker.skip()
    return cast("int", unpacker.tell())


class Values:
    """The values of a msgpack stream that arrives in pieces; raises `Undecodable` if it ends early or is no msgpack.

    begin, end: the offsets of the first byte of the last value, and of the first byte after it.
    """

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(timestamp=0, max_buffer_size=bounds.LARGEST)
        self._fed = self.begin = self.end = 0

    def feed(self, piece: bytes) -> Iterator[Any]:
        """The values that this piece completes."""
        try:
            self._unpacker.feed(piece)
            self._fed += len(piece)
            tell = self._unpacker.tell
            for value in self._unpacker:
                self.begin, self.end = self.end, tell()
                yield value
        except msgpack.BufferFull as error:
            problem = f"a value of more than {bounds.LARGEST:,} bytes after byte {self.end}"
            raise Undecodable(f"msgpack: {problem}") from error
        except msgpack.StackError as error:
            raise Undecodable(f"msgpack: {bounds.too_deep(bounds.WRAPPED)} after byte {self.end}") from error
        except (ValueError, RecursionError, OverflowError, msgpack.UnpackException) as error:
            raise Undecodable(f"msgpack: {fault_of(error)} after byte {self.end}") from error

    def close(self) -> None:
        """End the stream; raises `Undecodable` if it ends inside a value."""
        if self._fed > self.end:
            raise Undecodable(f"msgpack: cut off inside a value after byte {self.end}")


def _format_of(body: bytes) -> str:
    return "JSON" if is_json(body) else "msgpack"
