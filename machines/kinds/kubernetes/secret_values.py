"""The values of Secrets: which manifests hold them in the open, and the forms in which a value is masked.

Belongs here: the ban of raw Secrets (`SECRETS`), finding one in a body or in its data, the masked forms. Does not:
masking what is observed (`products.observe.generic`), refusing and erasing an event (`engine.core.intake`,
`engine.worker.erasure`).
A Secret is found wherever it stands: in a list, in an annotation, as JSON in a text, in a report of EMCO.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.diff.normalize import LAST_APPLIED
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.language.product import Ban
from phaseline.schemas import bounds, codec

MASK = "masked:"
"""What a fingerprint that replaces a value begins with."""
FIELDS = ("data", "stringData")
"""The fields of a Secret that hold its values."""
COPIES = (
    LAST_APPLIED, "kapp.k14s.io/original", "objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied",
)  # fmt: skip
"""Annotations in which tools keep a copy of the whole object. A masked Secret has none of them."""
SECRET_LISTS = ("secretStatuses",)
"""Lists whose members are Secrets even if they do not say their kind (EMCO's reports)."""
SHOWN = 200
"""The most characters of a path in a message."""
_MASKED = re.compile(r"(masked:[0-9a-f]{8,64}|\++|\*+|\(secret\))?\Z")
_LOOKS_RAW = re.compile(
    rb"""kind[\\"']*\s*:\s*[\\"']*Secret\b"""  # JSON, JSON in a text, YAML
    rb"""|\xa4kind(\xa6|\xd9\x06)Secret"""  # msgpack
)

LEFT_OUT = "(a Secret, left out)"
_PASSWORD = re.compile(r"(://)(?!git@)[^/?#\s]+@(?!sha\d+:)")
"""The user and the password in an address; `git` alone is no secret, and the digest of an image is none."""
_PATCH = re.compile(r"\bsecrets?(\.\S{1,64})? \S{1,512} modified (?=\S)", re.IGNORECASE)
"""Behind this Fleet says how a Secret was modified, with its values."""
_SAYS_SECRET = re.compile(r"""kind[\\"']*\s*:\s*[\\"']*Secret\b""")
_SAYS_VALUES = re.compile(r"""\b(?:data|stringData)[\\"']*\s*:""")
_MAY_BEGIN = re.compile(r"""\{|\b(?:apiVersion|kind|metadata|data|stringData)[\\"']*\s*:""")

_KIND = r"""[ \t]*(?:[!&]\S{0,64}[ \t]+)?["']?Secret(?:List)?["']?(?=[ \t]*(?:[,}]|$)|[ \t]+\#)"""


def _keys(before: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds in a text that something is a Secret, and values. before: what stands before a key of a map."""
    kind, values = (rf"""(?:{before})["']?{name}["']?[ \t]*:""" for name in ("kind", "(?:data|stringData)"))
    return re.compile(kind + _KIND, re.MULTILINE), re.compile(values, re.MULTILINE)


_IN_LINES = _keys(r"^[ \t-]*")
_IN_BRACES = _keys(r"^[ \t-]*|[{,][ \t\n]*")
"""Of what stands in braces that belong together: in prose there may be several of them."""
_BRACE = re.compile("[{}]")
ENDLESS = 20
"""The most braces in a text that begin no JSON, after which no more of it is looked for."""
DOCUMENTS = 100
"""The most documents of a text that are looked at one by one. The rest counts as one."""
_NEXT_DOCUMENT = re.compile(r"^---(?=[ \t]|$)", re.MULTILINE)


class _Found(NamedTuple):
    """A value inside a body. path: where it stands. is_secret: whether it is a Secret though it does not say so."""

    path: str
    value: Any
    is_secret: bool = False


def raw_secret(body: bytes) -> str | None:
    """Where the body of an event holds a Secret whose values are not masked; None if nowhere.

    Of a body that cannot be decoded, it says whether it looks like that.
    """
    try:
        decoded = codec.decode(body)
    except codec.Undecodable:
        return "the body, which cannot be decoded," if _LOOKS_RAW.search(body) else None
    return raw_secret_in(decoded)


def may_hold_secret(body: bytes) -> bool:
    """Whether a body may hold a Secret: a quick look, which passes most bodies."""
    # Secret, SecretList, secretStatuses; or JSON, where escapes may stand for these letters. To look from the end takes
    # half the time.
    return body.rfind(b"ecret") >= 0 or (codec.is_json(body) and b"\\u00" in body)


def raw_secret_in(value: Any) -> str | None:
    """Where a decoded value holds a Secret whose values are not masked; None if nowhere."""
    waiting = [_Found("", value)]
    while waiting:
        found = waiting.pop()
        if isinstance(found.value, Mapping) and (found.is_secret or _is_secret(found.value)) and _is_raw(found.value):
            return found.path[:SHOWN] or "the body"
        waiting.extend(_inside(found))
    return None


def without_values(found: Any) -> Any:
    """What a controller says, without values of Secrets: no Secret in its texts, no password in an address.

    A text that shows a Secret ends where it may begin.
    """
    if isinstance(found, str):
        said = _PASSWORD.sub(r"\1***@", found) if "@" in found else found
        if "ecret" in said and (patch := _PATCH.search(said)) is not None:
            said = said[: patch.end()] + LEFT_OUT
        shows = "ecret" in said and _SAYS_SECRET.search(said) and _SAYS_VALUES.search(said)
        begins = _MAY_BEGIN.search(said) if shows else None
        return said if begins is None else f"{said[: begins.start()]}{LEFT_OUT}"
    if isinstance(found, Mapping):
        return {name: without_values(value) for name, value in found.items()}
    return [*map(without_values, found)] if isinstance(found, list) else found


def is_masked(value: Any, *, coded: bool) -> bool:
    """Whether a value of a Secret gives nothing away. coded: it may be in base64, as in `data`."""
    if isinstance(value, Mapping | list):
        return all(is_masked(one, coded=coded) for one in (value.values() if isinstance(value, Mapping) else value))
    if not isinstance(value, str):
        return value is None
    if _MASKED.match(value):
        return True
    try:
        return coded and _MASKED.match(base64.b64decode(value, validate=True).decode()) is not None
    except ValueError:
        return False


def _is_secret(found: Mapping[str, Any]) -> bool:
    return found.get("kind") == "Secret" and group_kind(found) == ("", "Secret")


def _is_raw(found: Mapping[str, Any]) -> bool:
    """Whether a Secret shows a value, or holds a copy of itself that does."""
    if not all(is_masked(found.get(name), coded=name == "data") for name in FIELDS):
        return True
    metadata = found.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return isinstance(annotations, Mapping) and any(_is_raw_copy(annotations.get(name)) for name in COPIES)


def _is_raw_copy(text: Any) -> bool:
    """Whether a copy of a Secret in an annotation shows a value. A copy that cannot be read may do so."""
    copy = _read_json(text) if isinstance(text, str) else text
    return bool(text) and not (isinstance(copy, Mapping) and not _is_raw(copy))


def _inside(found: _Found) -> Iterator[_Found]:
    """The values inside a value."""
    value, path = found.value, found.path
    if isinstance(value, Mapping):
        listed = value.get("kind") == "SecretList"
        packed = value.get("kind") == "Secret" and value.get("group") in ("", None)
        for name, one in value.items():
            where = f"{path}.{name}" if path else str(name)
            if where == "data_base64" and isinstance(one, str):
                yield _coded(where, one)
                continue
            if isinstance(one, list) and (name in SECRET_LISTS or (listed and name == "items")):
                yield from (_Found(f"{where}[{index}]", member, is_secret=True) for index, member in enumerate(one))
            elif packed and name == "res" and isinstance(one, str):  # EMCO: an object as JSON in base64
                yield _Found(where, _unpacked(one), is_secret=True)
            else:
                yield _Found(where, one)
    elif isinstance(value, list):
        yield from (_Found(f"{path}[{index}]", one) for index, one in enumerate(value))
    elif isinstance(value, str) and "Secret" in value:
        lines = value.replace("\r\n", "\n").replace("\r", "\n")
        for one in _NEXT_DOCUMENT.split(lines, DOCUMENTS - 1):
            yield from _in_text(path, one)


def _in_text(path: str, text: str) -> Iterator[_Found]:
    """What a document in a text holds: JSON, also in prose, or YAML in any form, which is judged by its looks."""
    inner = _read_json(text)
    if isinstance(inner, Mapping | list):
        yield _Found(path, inner)
        return
    maps, rest = _maps_in(text)
    yield from (_Found(path, one) for one in maps)
    if _shows(rest, _IN_LINES) or any(_shows(one, _IN_BRACES) for one in _in_braces(rest)):
        yield _Found(path, {"data": rest}, is_secret=True)


def _shows(text: str, keys: tuple[re.Pattern[str], re.Pattern[str]]) -> bool:
    return all(one.search(text) is not None for one in keys)


def _in_braces(text: str) -> Iterator[str]:
    """What stands in braces that belong together, the outer ones; the last may be without an end."""
    begin = depth = 0
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            begin, depth = begin if depth else brace.start(), depth + 1
        elif depth:
            depth -= 1
            if not depth:
                yield text[begin : brace.end()]
    if depth:
        yield text[begin:]


def _maps_in(text: str) -> tuple[list[Any], str]:
    """The maps that stand in a text as JSON, and the text without them."""
    try:
        bounds.check_json_depth(text.encode(errors="replace"), bounds.FOREIGN)
    except ValueError:
        return [], text
    maps, rest, start, failed = list[Any](), list[str](), 0, 0
    while failed < ENDLESS and (begin := text.find("{", start)) >= 0:
        try:
            one, end = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            rest.append(text[start : (end := begin + 1)])
            failed += 1
        else:
            maps.append(one)
            rest.append(text[start:begin])
        start = end
    return maps, "".join((*rest, text[start:]))


def _coded(path: str, text: str) -> _Found:
    """The data of an event that stands in base64. If it cannot be decoded, it counts as raw if it looks like that."""
    try:
        raw = base64.b64decode(text)
    except ValueError:
        return _Found(path, None)
    try:
        return _Found(path, codec.decode(raw))
    except codec.Undecodable:
        return _Found(path, {"data": text}, is_secret=_LOOKS_RAW.search(raw) is not None)


def _read_json(text: str) -> Any:
    """The value of a text that holds JSON; None of another text."""
    text = text.lstrip("\ufeff \t\r\n")
    try:
        if text[:1] not in {"{", "["}:
            return None
        bounds.check_json_depth(text.encode(errors="replace"), bounds.FOREIGN)
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unpacked(coded: str) -> Mapping[str, Any]:
    """An object from base64. Where it cannot be read, a Secret that counts as raw."""
    try:
        found = _read_json(base64.b64decode(coded).decode())
    except (binascii.Error, ValueError):
        found = None
    return found if isinstance(found, Mapping) else {"data": coded or None}


SECRETS = Ban(
    "kubernetes.secrets", 2, may_hold_secret, raw_secret, raw_secret_in,
    "is a Secret, or holds one, whose values are not masked: the event is erased, and nothing of it is kept."
    " Mask the values before publishing",
    unnamed=1,
)  # fmt: skip
"""No event may hold the values of a Secret. Logs were decided by revision 1 before digests named bans."""
